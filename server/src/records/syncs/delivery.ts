import { type Db, isUnavailable } from '../../database/connection/db.ts'
import { reasonOf } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { plural } from '../../lib/plural.ts'
import type { Cap } from '../../money/caps.ts'
import { arriveRows } from '../../runs/arrivals.ts'
import { parseRows } from '../../sheets/rows/intake.ts'
import { lookUpByKey } from '../../sources/store/source-records.ts'
import { readRows } from './mapping.ts'
import { pauseOnProblem } from './plan.ts'
import { claimDeliveries, findWornMember } from './store/deliveries.ts'
import { type DestinationRecord, listDestinations, moveDestination } from './store/destinations.ts'
import { lockSync, type SyncKey, type SyncRecord } from './store/syncs.ts'
import { listWaiting, type Member } from './store/waiting.ts'
import { findTarget, type Target } from './target.ts'

const MAX_REASON = 500

/** Members that could not become rows; nothing of their transaction is left. */
export class DeliveryFailed extends Error {
  override name = 'DeliveryFailed'
  readonly first: Member
  constructor(first: Member, cause: unknown) {
    super(reasonOf(cause).slice(0, MAX_REASON), { cause })
    this.first = first
  }
}

/** What members are delivered under: the lock of the sync, and an active destination with its sheet. */
export type Stand = { sync: SyncRecord; destination: DestinationRecord; target: Target }

/** Null when nothing may be delivered now. A destination that lost its workflow or an input stops the sync (D62). */
export async function takeStand(trx: Db, key: SyncKey, connectionId: string): Promise<Stand | null> {
  await lookUpByKey(trx)
  const sync = await lockSync(trx, key)
  if (sync?.state !== 'active') return null
  const all = await listDestinations(trx, key.org_id, [key.sync_id])
  const destination = all.find(({ connection_id }) => connection_id === connectionId)
  if (destination?.state !== 'active') return null
  const target = await findTarget(trx, destination)
  if (!('problem' in target)) return { sync, destination, target }
  await pauseOnProblem(trx, key, [destination])
  return null
}

/**
 * One transaction: members, their rows, the record of both and the place in the feed. False when nothing is left that was
 * cleared. Throws `DeliveryFailed` when it is about the members.
 */
export async function deliverBatch(
  db: Db,
  key: SyncKey,
  connectionId: string,
  limit: number,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const stand = await takeStand(trx, key, connectionId)
    if (stand === null) return false
    const { sync, destination } = stand
    if (destination.position >= destination.cleared_through) return false
    const members = await listWaiting(trx, sync, destination, limit)
    const delivered = await deliverMembers(trx, stand, members)
    const position = members.at(-1)?.entered_seq ?? destination.cleared_through
    await moveDestination(trx, destination, { position, delivered })
    return position < destination.cleared_through
  })
}

/** What the rows may cost that a cycle starts (M5). */
function capOfCycle({ sync, destination }: Stand): { cap?: Cap } {
  const { connection_id, max_credits_millis: limitMillis } = destination
  if (limitMillis === null) return {}
  const subject = `segment cycle ${connection_id} ${sync.planned_tick}`
  return { cap: { subject, limitMillis, each: 'subject' } }
}

/** Nobody who flaps is to be paid for without end: what the rows do may be what brings their member back. */
const wornOut = (limit: number) =>
  `it left and returned so often that it was delivered ${plural(limit, 'time')} within 24 hours (LOAM_SEGMENT_REPUSH_PER_DAY). ` +
  'Does the workflow change what the segment asks for, so that each delivery brings the next? ' +
  'Then change its filter, or sync with reentry_mode suppress'

/** Makes rows of the members that can be claimed, and answers how many. */
export async function deliverMembers(trx: Db, stand: Stand, members: readonly Member[]): Promise<number> {
  const [first] = members
  if (first === undefined) return 0
  const { sync, destination, target } = stand
  const worn = await findWornMember(trx, destination, members)
  if (worn !== null) throw new DeliveryFailed(worn.member, new Error(wornOut(worn.limit)))
  try {
    const rows = await readRows(trx, sync.org_id, { kind: sync.kind, mapping: destination.mapping }, members)
    const rowIds = members.map(() => newId())
    const claimed = await claimDeliveries(trx, destination, members, rowIds)
    const isClaimed = (place: number) => claimed.has(members[place]?.entity_id ?? '')
    const { accepted } = await parseRows(target.inputs, rows)
    await arriveRows(trx, {
      sheet: target.sheet,
      data: accepted.filter(({ index }) => isClaimed(index)).map(({ data }) => data),
      ids: rowIds.filter((_, place) => isClaimed(place)),
      actor: { email: destination.created_by, keyId: null },
      trigger: 'segment',
      run: destination.run,
      ...capOfCycle(stand),
    })
    return claimed.size
  } catch (cause) {
    throw isUnavailable(cause) ? cause : new DeliveryFailed(first, cause)
  }
}
