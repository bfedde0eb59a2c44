import type { Db } from '../../database/connection/db.ts'
import { describeFailure, reasonToKeep } from './batches.ts'
import { deliverMembers, DeliveryFailed, takeStand } from './delivery.ts'
import { listFailures, recordFailure, removeFailure } from './store/deliveries.ts'
import { listDestinations, moveDestination } from './store/destinations.ts'
import { changeSync, type SyncKey } from './store/syncs.ts'
import { findUndelivered } from './store/waiting.ts'

/** For each destination and cycle, those first that were tried longest ago. */
const TRIED_AT_ONCE = 100

/** Tries to deliver again what failed before. Who has left meanwhile is forgotten. */
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
    const stand = await takeStand(trx, key, connectionId)
    if (stand === null || !(await removeFailure(trx, stand.destination, entityId))) return
    const member = await findUndelivered(trx, stand.sync, stand.destination, entityId)
    if (member === undefined) return
    const delivered = await deliverMembers(trx, stand, [member])
    await moveDestination(trx, stand.destination, { position: stand.destination.position, delivered })
  })
}

async function noteFailure(
  db: Db,
  key: SyncKey,
  connectionId: string,
  failed: DeliveryFailed,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const stand = await takeStand(trx, key, connectionId)
    if (stand === null) return
    const { entity_id } = failed.first
    const reason = await reasonToKeep(trx, stand.destination, failed)
    await recordFailure(trx, stand.destination, entity_id, reason)
    const last_import_error = describeFailure(stand.destination, entity_id, reason)
    await changeSync(trx, key, 'active', { last_import_error })
  })
}
