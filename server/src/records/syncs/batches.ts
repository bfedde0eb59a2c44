import type { Db } from '../../database/connection/db.ts'
import { takeTurn } from '../../lib/timing/fair-turns.ts'
import { findEntities } from '../store/entities.ts'
import { deliverBatch, DeliveryFailed, takeStand } from './delivery.ts'
import { recordFailure } from './store/deliveries.ts'
import { type DestinationRecord, listDestinations, moveDestination } from './store/destinations.ts'
import { ERASED_REASON } from './store/erasure.ts'
import { changeSync, type SyncKey } from './store/syncs.ts'
import { listWaiting } from './store/waiting.ts'

const BATCH = 500
/** So many members in a row fail for a reason that is not theirs. */
const MAX_FAILED_IN_A_ROW = 10

/** Delivers what was cleared, batch by batch. False when the turn is over before its end. */
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
      // By halves down to the member that cannot be delivered, which is set aside with its reason.
      if (limit === 1) {
        failedInARow += 1
        if (failedInARow < MAX_FAILED_IN_A_ROW) await setAside(db, key, connection_id, outcome)
        else await giveUp(db, key, connection_id, outcome)
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

/** Notes why a member failed and passes it: it is tried again at every cycle. Nothing where somebody else delivered it. */
async function setAside(db: Db, key: SyncKey, connectionId: string, failed: DeliveryFailed): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const stand = await takeStand(trx, key, connectionId)
    if (stand === null) return
    const { sync, destination } = stand
    const { entity_id } = failed.first
    const [next] = await listWaiting(trx, sync, destination, 1)
    if (next?.entity_id !== entity_id) return
    const reason = await reasonToKeep(trx, destination, failed)
    await recordFailure(trx, destination, entity_id, reason)
    await moveDestination(trx, destination, { position: next.entered_seq, delivered: 0 })
    await changeSync(trx, key, 'active', {
      last_import_error: describeFailure(destination, entity_id, reason),
    })
  })
}

export function describeFailure(destination: DestinationRecord, entityId: string, reason: string) {
  const { workflow_id, connection_id } = destination
  const message = `Entity ${entityId} could not be delivered to workflow ${workflow_id} and is tried again at every cycle`
  return { message, reason, entity_id: entityId, at: new Date().toISOString(), connection_id }
}

/** Who was erased after the failure is not quoted. Call it under the lock of the sync, which erasing waits for. */
export async function reasonToKeep(
  trx: Db,
  { org_id }: DestinationRecord,
  { first, message }: DeliveryFailed,
): Promise<string> {
  const [entity] = await findEntities(trx, org_id, [first.entity_id])
  return entity === undefined || entity.erased_at !== null ? ERASED_REASON : message
}

async function giveUp(db: Db, key: SyncKey, connectionId: string, failed: DeliveryFailed): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const stand = await takeStand(trx, key, connectionId)
    if (stand === null) return
    const { workflow_id, connection_id } = stand.destination
    const last_import_error = {
      message: `${MAX_FAILED_IN_A_ROW} members in a row could not be delivered to workflow ${workflow_id}; see to the cause, then resume`,
      reason: await reasonToKeep(trx, stand.destination, failed),
      entity_id: failed.first.entity_id,
      at: new Date().toISOString(),
      connection_id,
    }
    await changeSync(trx, key, 'active', { state: 'paused_error', last_import_error })
  })
}
