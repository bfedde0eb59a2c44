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
import { claimDeliveries, findOscillatingMember } from './store/deliveries.ts'
import { type DestinationRecord, listDestinations, moveDestination } from './store/destinations.ts'
import { lockSync, type SyncKey, type SyncRecord } from './store/syncs.ts'
import { listWaiting, type Member } from './store/waiting.ts'
import { findTarget, type Target } from './target.ts'

const MAX_REASON = 500

/** Thrown when members could not become rows. Their transaction was rolled back. */
export class DeliveryFailed extends Error {
  override name = 'DeliveryFailed'
  readonly first: Member
  constructor(first: Member, cause: unknown) {
    super(reasonOf(cause).slice(0, MAX_REASON), { cause })
    this.first = first
  }
}

/** The context of a delivery: the locked sync, and an active destination with its sheet. */
export type DeliveryContext = { sync: SyncRecord; destination: DestinationRecord; target: Target }

/**
 * Locks what a delivery needs. Returns null if nothing may be delivered now. A destination that lost its workflow or an
 * input stops the sync (D62).
 */
export async function lockDelivery(
  trx: Db,
  key: SyncKey,
  connectionId: string,
): Promise<DeliveryContext | null> {
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
 * Delivers a batch in one transaction: members, their rows, the record of both and the feed position. Returns false if
 * no cleared member is left. Throws `DeliveryFailed` if the cause is in the members.
 */
export async function deliverBatch(
  db: Db,
  key: SyncKey,
  connectionId: string,
  limit: number,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const context = await lockDelivery(trx, key, connectionId)
    if (context === null) return false
    const { sync, destination } = context
    if (destination.position >= destination.cleared_through) return false
    const members = await listWaiting(trx, sync, destination, limit)
    const delivered = await deliverMembers(trx, context, members)
    const position = members.at(-1)?.entered_seq ?? destination.cleared_through
    await moveDestination(trx, destination, { position, delivered })
    return position < destination.cleared_through
  })
}

/** Returns the credit limit of the rows that a cycle starts (M5). */
function cycleCap({ sync, destination }: DeliveryContext): { cap?: Cap } {
  const { connection_id, max_credits_millis: limitMillis } = destination
  if (limitMillis === null) return {}
  const subject = `segment cycle ${connection_id} ${sync.planned_tick}`
  return { cap: { subject, limitMillis, each: 'subject' } }
}

/**
 * Returns the reason why an oscillating member is not delivered again. The limit bounds the cost, because the workflow
 * itself may be what brings the member back.
 */
const describeOscillation = (limit: number) =>
  `the member left and returned so often that it was delivered ${plural(limit, 'time')} within 24 hours (LOAM_SEGMENT_REPUSH_PER_DAY). ` +
  'If the workflow changes what the filter of the segment checks, each delivery causes the next: ' +
  'change the filter, or sync with reentry_mode suppress'

/** Creates rows for the members that can be claimed. Returns their number. */
export async function deliverMembers(
  trx: Db,
  context: DeliveryContext,
  members: readonly Member[],
): Promise<number> {
  const [first] = members
  if (first === undefined) return 0
  const { sync, destination, target } = context
  const oscillating = await findOscillatingMember(trx, destination, members)
  if (oscillating !== null)
    throw new DeliveryFailed(oscillating.member, new Error(describeOscillation(oscillating.limit)))
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
      ...cycleCap(context),
    })
    return claimed.size
  } catch (cause) {
    throw isUnavailable(cause) ? cause : new DeliveryFailed(first, cause)
  }
}
