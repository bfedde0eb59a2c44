import { type Db, inTransaction } from '../../database/connection/db.ts'
import { invalid, notFound } from '../../lib/errors.ts'
import { MILLIS } from '../../money/store/credits.ts'
import { type Actor, recordAudit } from '../../organisation/store/audit.ts'
import {
  changeStatus,
  lockSource,
  setMaxCredits,
  type SourceKey,
  type SourceRecord,
} from '../store/sources.ts'
import { queuePull } from './jobs.ts'

/**
 * Sets the maximum total cost of a source's pulls (M5); null removes it. A source that had reached the limit continues
 * at once. If a lower limit leaves too little for the pages already paid for, those pages are not stored: the worker
 * reading them loses its claim.
 */
export async function changeCreditCap(
  db: Db,
  actor: Actor,
  key: SourceKey,
  maxCredits: number | null,
): Promise<SourceRecord> {
  return inTransaction(db, async (trx) => {
    const before = await lockSource(trx, key)
    if (before === undefined) throw notFound('Source')
    const { status, spent_millis: spent, held_millis: held, price_millis: price } = before
    const cap = maxCredits === null ? null : Math.round(maxCredits * MILLIS)
    if (cap !== null && cap < spent) {
      throw invalid('max_credits', `must be at least ${spent / MILLIS}, the credits already spent`)
    }
    await setMaxCredits(trx, key, cap)
    const hasRoom = cap === null || spent + price <= cap
    const continues = status === 'paused_out_of_credits' && hasRoom
    const isTooHigh = status === 'active' && cap !== null && spent + held > cap
    if (continues || isTooHigh) {
      await changeStatus(trx, key, [status], 'active')
      await queuePull(trx, key, before.next_pull_at ?? undefined)
    }
    const from = before.max_credits_millis
    const details = { from: from === null ? null : from / MILLIS, to: maxCredits }
    await recordAudit(trx, key.org_id, actor, {
      action: 'source.max_credits',
      target: key.instance_id,
      details,
    })
    const changed = await lockSource(trx, key)
    if (changed === undefined) throw notFound('Source')
    return changed
  })
}
