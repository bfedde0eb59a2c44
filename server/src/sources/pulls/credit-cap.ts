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
 * Sets what the pulls of a source may cost in all (M5); null lifts the cap. A source that had used it up goes on at once. Under a
 * lower cap, pages that were paid for by more than is left are not taken: whoever reads them loses the source.
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
      throw invalid('max_credits', `must be at least ${spent / MILLIS}, which were spent already`)
    }
    await setMaxCredits(trx, key, cap)
    const isRoom = cap === null || spent + price <= cap
    const goesOn = status === 'paused_out_of_credits' && isRoom
    const isTooHigh = status === 'active' && cap !== null && spent + held > cap
    if (goesOn || isTooHigh) {
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
