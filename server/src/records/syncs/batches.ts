import type { Db } from '../../database/connection/db.ts'
import { takeTurn } from '../../lib/timing/fair-turns.ts'
import { findEntities } from '../store/entities.ts'
import { deliverBatch, DeliveryFailed, lockDelivery } from './delivery.ts'
import { recordFailure } from './store/deliveries.ts'
import { type DestinationRecord, listDestinations, moveDestination } from './store/destinations.ts'
import { ERASED_REASON } from './store/erasure.ts'
import { changeSync, type SyncKey } from './store/syncs.ts'
import { listWaiting } from './store/waiting.ts'

const BATCH = 500
/** The number of consecutive failures after which the cause is not the members. */
const MAX_FAILED_IN_A_ROW = 10

/** Delivers cleared members batch by batch. Returns false if the turn ends first. */
export async function deliverCleared(db: Db, key: SyncKey, isTurnOver: () => boolean): Promise<boolean> {
  const destinations = await listDestinations(db, key.org_id, [key.sync_id])
  const cleared = destinations.filter(({ position, cleared_through }) => position < cleared_through)
  for (const { connection_id } of cleared) {
    let limit = BATCH
    let failedInARow = 0
    for (;;) {
      if (isTurnOver()) return false
      const outcome = await tryBatch(db, key, connection_id, limit)
      if (outcome === 'done') break
      if (outcome === 'more') {
        limit = Math.min(BATCH, limit * 2)
        failedInARow = 0
        continue
      }
      // The batch is halved down to the member that cannot be delivered. That member is set aside with its reason.
      if (limit === 1) {
        failedInARow += 1
        if (failedInARow < MAX_FAILED_IN_A_ROW) await setAside(db, key, connection_id, outcome)
        else await pauseSync(db, key, connection_id, outcome)
      }
      limit = Math.ceil(limit / 2)
    }
  }
  return true
}

async function tryBatch(db: Db, key: SyncKey, connectionId: string, limit: number) {
  try {
    const more = await takeTurn(key.org_id, () => deliverBatch(db, key, connectionId, limit))
    return more ? 'more' : 'done'
  } catch (cause) {
    if (cause instanceof DeliveryFailed) return cause
    throw cause
  }
}

/**
 * Records why a member failed and moves past it; it is retried in every cycle. Does nothing if another worker delivered
 * it.
 */
async function setAside(db: Db, key: SyncKey, connectionId: string, failed: DeliveryFailed): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const context = await lockDelivery(trx, key, connectionId)
    if (context === null) return
    const { sync, destination } = context
    const { entity_id } = failed.first
    const [next] = await listWaiting(trx, sync, destination, 1)
    if (next?.entity_id !== entity_id) return
    const reason = await storableReason(trx, destination, failed)
    await recordFailure(trx, destination, entity_id, reason)
    await moveDestination(trx, destination, { position: next.entered_seq, delivered: 0 })
    await changeSync(trx, key, 'active', {
      last_import_error: describeFailure(destination, entity_id, reason),
    })
  })
}

export function describeFailure(destination: DestinationRecord, entityId: string, reason: string) {
  const { workflow_id, connection_id } = destination
  const message = `Entity ${entityId} could not be delivered to workflow ${workflow_id} and is retried in every cycle`
  return { message, reason, entity_id: entityId, at: new Date().toISOString(), connection_id }
}

/**
 * Returns the reason to store. It quotes nothing of an entity that was erased after the failure. Call it under the lock
 * of the sync, which erasing waits for.
 */
export async function storableReason(
  trx: Db,
  { org_id }: DestinationRecord,
  { first, message }: DeliveryFailed,
): Promise<string> {
  const [entity] = await findEntities(trx, org_id, [first.entity_id])
  return entity === undefined || entity.erased_at !== null ? ERASED_REASON : message
}

async function pauseSync(db: Db, key: SyncKey, connectionId: string, failed: DeliveryFailed): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const context = await lockDelivery(trx, key, connectionId)
    if (context === null) return
    const { workflow_id, connection_id } = context.destination
    const last_import_error = {
      message: `${MAX_FAILED_IN_A_ROW} members in a row could not be delivered to workflow ${workflow_id}; fix the cause, then resume`,
      reason: await storableReason(trx, context.destination, failed),
      entity_id: failed.first.entity_id,
      at: new Date().toISOString(),
      connection_id,
    }
    await changeSync(trx, key, 'active', { state: 'paused_error', last_import_error })
  })
}
