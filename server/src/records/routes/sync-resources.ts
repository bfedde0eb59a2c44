import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Uuid } from '#contract/envelope.ts'
import { forbidden, notFound } from '../../lib/errors.ts'
import { mayUse } from '../../sheets/routes/workflows/resources.ts'
import {
  type DestinationRecord,
  listDestinationAccess,
  listDestinations,
} from '../syncs/store/destinations.ts'
import { findSync, type SyncRecord } from '../syncs/store/syncs.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The sync named in the path, which the caller may use. Set by `syncOfPath`, `wholeSyncOfPath` and
     * `destinationOfPath`.
     */
    segmentSync: SyncRecord
    /** The destinations of the sync whose workflow the caller may use. Never empty. */
    destinations: DestinationRecord[]
  }
}

export const SyncParams = z.object({ sync_id: Uuid })
export const DestinationParams = SyncParams.extend({ connection_id: Uuid })

/** Lists the visible destinations. A narrowed key, like a member, only sees destinations whose workflow it may use. */
export async function listVisible(
  { caller, db }: FastifyRequest,
  syncIds: readonly string[],
): Promise<{ all: DestinationRecord[]; visible: DestinationRecord[] }> {
  const all = await listDestinations(db, caller.orgId, syncIds)
  const access = await listDestinationAccess(db, caller.orgId, caller.memberId, syncIds)
  const byId = new Map(access.map((one) => [one.connection_id, one]))
  const visible = all.filter(({ connection_id, workflow_id }) => {
    const one = byId.get(connection_id)
    return one !== undefined && mayUse(caller, { ...one, workflow_id })
  })
  return { all, visible }
}

async function findOfPath(request: FastifyRequest) {
  const { sync_id } = request.params as z.infer<typeof SyncParams>
  const { caller, db } = request
  const sync = await findSync(db, { org_id: caller.orgId, sync_id: sync_id.toLowerCase() })
  if (sync === undefined) throw notFound('Sync')
  request.segmentSync = sync
  const found = await listVisible(request, [sync.sync_id])
  request.destinations = found.visible
  return found
}

export async function syncOfPath(request: FastifyRequest): Promise<void> {
  const { visible } = await findOfPath(request)
  if (visible.length === 0) throw forbidden('You have no access to a destination of this sync')
}

/** Finds the sync for actions on all destinations: confirm, resume, delete. */
export async function wholeSyncOfPath(request: FastifyRequest): Promise<void> {
  const { all, visible } = await findOfPath(request)
  if (visible.length < all.length) {
    throw forbidden('This sync has destinations that you have no access to')
  }
}

export async function destinationOfPath(request: FastifyRequest): Promise<void> {
  const { all, visible } = await findOfPath(request)
  const connectionId = (request.params as z.infer<typeof DestinationParams>).connection_id.toLowerCase()
  const isNamed = ({ connection_id }: DestinationRecord) => connection_id === connectionId
  if (!all.some(isNamed)) throw notFound('Destination')
  if (!visible.some(isNamed)) throw forbidden('You have no access to the workflow of this destination')
}
