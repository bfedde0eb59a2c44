import type { SegmentSync } from '#contract/segment-syncs.ts'
import type { Db } from '../../database/connection/db.ts'
import type { DestinationRecord } from './store/destinations.ts'
import type { SyncRecord } from './store/syncs.ts'
import { countFailures, countWaiting } from './store/waiting.ts'

/** Returns syncs as a reader of these destinations sees them. Other destinations are neither counted nor named. */
export async function viewSyncs(
  db: Db,
  orgId: string,
  syncs: readonly SyncRecord[],
  destinations: readonly DestinationRecord[],
): Promise<SegmentSync[]> {
  const ids = destinations.map(({ connection_id }) => connection_id)
  const waiting = await countWaiting(db, orgId, ids)
  const failures = await countFailures(db, orgId, ids)
  const failed = new Map(failures.map((one) => [one.connection_id, one.failed]))
  const bySync = new Map(waiting.filter((one) => one.connection_id === null).map((one) => [one.sync_id, one]))
  const byDestination = new Map(waiting.map((one) => [one.connection_id, one]))
  return syncs.map((sync) => ({
    sync_id: sync.sync_id,
    segment_id: sync.segment_id,
    state: sync.state,
    entity_kinds: [sync.kind],
    held_count: bySync.get(sync.sync_id)?.held ?? 0,
    held_reason: sync.held_reason,
    last_import_error: viewError(sync, ids),
    last_cycle_at: sync.last_cycle_at?.toISOString() ?? null,
    destinations: destinations
      .filter(({ sync_id }) => sync_id === sync.sync_id)
      .map(({ connection_id, workflow_id, state, run, reentry_mode, delivered }) => ({
        connection_id,
        workflow_id,
        state,
        run,
        reentry_mode,
        delivered,
        pending: byDestination.get(connection_id)?.pending ?? 0,
        held: byDestination.get(connection_id)?.held ?? 0,
        failed: failed.get(connection_id) ?? 0,
      })),
  }))
}

function viewError({ last_import_error: error }: SyncRecord, seen: readonly string[]) {
  if (error === null) return null
  const { message, reason, at, connection_id } = error
  if (connection_id !== null && !seen.includes(connection_id)) {
    return { message: 'A destination that you have no access to has an error', at }
  }
  return { message: reason === undefined ? message : `${message}: ${reason}`, at }
}
