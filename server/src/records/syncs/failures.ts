import type { Db } from '../../database/connection/db.ts'
import { describeFailure, storableReason } from './batches.ts'
import { deliverMembers, DeliveryFailed, lockDelivery } from './delivery.ts'
import { listFailures, recordFailure, removeFailure } from './store/deliveries.ts'
import { listDestinations, moveDestination } from './store/destinations.ts'
import { changeSync, type SyncKey } from './store/syncs.ts'
import { findUndelivered } from './store/waiting.ts'

/** The maximum number of retries per destination and cycle, the longest waiting first. */
const TRIED_AT_ONCE = 100

/** Retries failed deliveries. Members that have left meanwhile are removed. */
export async function retryFailures(db: Db, key: SyncKey, isTurnOver: () => boolean): Promise<void> {
  for (const destination of await listDestinations(db, key.org_id, [key.sync_id])) {
    if (destination.state !== 'active') continue
    for (const entityId of await listFailures(db, destination, TRIED_AT_ONCE)) {
      if (isTurnOver()) return
      await retryMember(db, key, destination.connection_id, entityId).catch(async (cause: unknown) => {
        if (!(cause instanceof DeliveryFailed)) throw cause
        await noteFailure(db, key, destination.connection_id, cause)
      })
    }
  }
}

async function retryMember(db: Db, key: SyncKey, connectionId: string, entityId: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const context = await lockDelivery(trx, key, connectionId)
    if (context === null || !(await removeFailure(trx, context.destination, entityId))) return
    const member = await findUndelivered(trx, context.sync, context.destination, entityId)
    if (member === undefined) return
    const delivered = await deliverMembers(trx, context, [member])
    await moveDestination(trx, context.destination, { position: context.destination.position, delivered })
  })
}

async function noteFailure(
  db: Db,
  key: SyncKey,
  connectionId: string,
  failed: DeliveryFailed,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const context = await lockDelivery(trx, key, connectionId)
    if (context === null) return
    const { entity_id } = failed.first
    const reason = await storableReason(trx, context.destination, failed)
    await recordFailure(trx, context.destination, entity_id, reason)
    const last_import_error = describeFailure(context.destination, entity_id, reason)
    await changeSync(trx, key, 'active', { last_import_error })
  })
}
