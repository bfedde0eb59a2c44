import { type Db, inTransaction } from '../../database/connection/db.ts'
import { invalid, notFound } from '../../lib/errors.ts'
import { type Actor, recordAudit } from '../../organisation/store/audit.ts'
import { changeStatus, findSource, type SourceKey, type SourceRecord } from '../store/sources.ts'
import { queuePull } from './jobs.ts'

/**
 * Pauses or resumes a source (D49). A running pull stops at its current page and continues there on resume. Missed
 * ticks are made up for once. A source that was imported once and completely has nothing left to pull.
 */
export async function setSourceStatus(
  db: Db,
  actor: Actor,
  key: SourceKey,
  to: 'active' | 'paused',
): Promise<SourceRecord> {
  return inTransaction(db, async (trx) => {
    const before = await findSource(trx, key)
    const changed = await changeStatus(trx, key, CHANGEABLE[to], to)
    const found = await findSource(trx, key)
    if (found === undefined) throw notFound('Source')
    if (found.status === 'expired') {
      throw invalid('status', 'the source has expired and cannot be changed; create another one')
    }
    if (!changed) return found
    const details = { from: before?.status, to }
    await recordAudit(trx, key.org_id, actor, { action: 'source.status', target: key.instance_id, details })
    if (to === 'active' && found.next_pull_at !== null) await queuePull(trx, key, found.next_pull_at)
    return found
  })
}

const CHANGEABLE = {
  active: ['paused', 'completed', 'paused_out_of_credits'],
  paused: ['active', 'completed', 'paused_out_of_credits'],
} as const

/** Ends a source for good. Its imported records are removed in the background; the rows it created stay. */
export async function deleteSource(db: Db, actor: Actor, key: SourceKey): Promise<void> {
  await inTransaction(db, async (trx) => {
    const found = await findSource(trx, key)
    if (found === undefined || !(await changeStatus(trx, key, [found.status], 'deleted')))
      throw notFound('Source')
    const details = { name: found.name, source_id: found.slug }
    await recordAudit(trx, key.org_id, actor, { action: 'source.deleted', target: key.instance_id, details })
  })
}
