import { sql } from 'kysely'
import type { EntityKind } from '#contract/records.ts'
import type { HELD_REASONS, SYNC_STATES } from '#contract/segment-syncs.ts'
import type { Db } from '../../../database/connection/db.ts'
import { newId } from '../../../lib/ids.ts'

export type SyncState = (typeof SYNC_STATES)[number]
export type HeldReason = (typeof HELD_REASONS)[number]
export type SyncKey = { org_id: string; sync_id: string }

/**
 * The error that stopped a sync or keeps its members waiting. `connection_id` is the destination where it happened. The
 * reason may quote values of `entity_id`, or of any entity if that is unknown.
 */
export type ImportError = {
  message: string
  reason?: string
  entity_id?: string
  at: string
  connection_id: string | null
}

/** A sync with the current state of its segment. */
export type SyncRecord = SyncKey & {
  segment_id: string
  state: SyncState
  held_reason: HeldReason | null
  held_through: number
  /** The filter hash of the last cycle. */
  filter_hash: string
  recent_counts: number[]
  tick: number
  planned_tick: number
  last_cycle_at: Date | null
  last_import_error: ImportError | null
  kind: EntityKind
  current_hash: string
  last_seq: number
}

const SELECTED = sql`
  y.org_id, y.sync_id, y.segment_id, y.state, y.held_reason, y.held_through, y.filter_hash,
  array_to_json(y.recent_counts) as recent_counts, y.tick, y.planned_tick, y.last_cycle_at, y.last_import_error,
  s.kind, s.filter_hash as current_hash, s.last_seq
  from segment_syncs y join record_segments s on s.org_id = y.org_id and s.segment_id = y.segment_id`

/** Finds a sync. Returns undefined if it does not exist or was deleted. */
export async function findSync(db: Db, { org_id, sync_id }: SyncKey): Promise<SyncRecord | undefined> {
  const { rows } = await sql<SyncRecord>`select ${SELECTED}
    where y.org_id = ${org_id} and y.sync_id = ${sync_id} and y.state <> 'deleted'`.execute(db)
  return rows[0]
}

/** Lists syncs, newest first. */
export async function listSyncs(db: Db, orgId: string): Promise<SyncRecord[]> {
  const { rows } = await sql<SyncRecord>`select ${SELECTED}
    where y.org_id = ${orgId} and y.state <> 'deleted' order by y.created_at desc, y.sync_id desc`.execute(db)
  return rows
}

/** Locks a sync until the transaction ends. Cycles, batches and callers take turns here. */
export async function lockSync(db: Db, { org_id, sync_id }: SyncKey): Promise<SyncRecord | undefined> {
  const { rows } = await sql<SyncRecord>`select ${SELECTED}
    where y.org_id = ${org_id} and y.sync_id = ${sync_id} and y.state <> 'deleted' for update of y`.execute(
    db,
  )
  return rows[0]
}

/** Finds the current sync of a segment, with the number of its destinations. */
export async function findSyncOfSegment(
  db: Db,
  { org_id, segment_id }: { org_id: string; segment_id: string },
): Promise<{ sync_id: string; destinations: number } | undefined> {
  const { rows } = await sql<{ sync_id: string; destinations: number }>`
    select y.sync_id, (
      select count(*) from segment_destinations d
      where d.org_id = y.org_id and d.sync_id = y.sync_id) as destinations
    from segment_syncs y
    where y.org_id = ${org_id} and y.segment_id = ${segment_id} and y.state <> 'deleted'`.execute(db)
  return rows[0]
}

/** Finds or creates the current sync of a segment, and locks it. Returns undefined if the segment no longer exists. */
export async function putSync(
  db: Db,
  sync: { org_id: string; segment_id: string; created_by: string },
): Promise<{ sync_id: string; isNew: boolean } | undefined> {
  const { org_id, segment_id, created_by } = sync
  const { rows } = await sql<{ sync_id: string; is_new: boolean }>`
    insert into segment_syncs as y (org_id, sync_id, segment_id, filter_hash, created_by)
    select ${org_id}, ${newId()}, ${segment_id}, filter_hash, ${created_by}
    from record_segments where org_id = ${org_id} and segment_id = ${segment_id} for key share
    on conflict (org_id, segment_id) where state <> 'deleted' do update set segment_id = excluded.segment_id
    returning y.sync_id, y.xmax = 0 as is_new`.execute(db)
  const [made] = rows
  return made && { sync_id: made.sync_id, isNew: made.is_new }
}

export type SyncChange = {
  state?: SyncState
  held_reason?: HeldReason | null
  held_through?: number
  filter_hash?: string
  recent_counts?: number[]
  planned_tick?: number
  last_import_error?: ImportError | null
  /** Set if a cycle ran now. */
  cycled?: true
  /** Set if the next cycle is due now. */
  due?: true
}

/** Changes a sync. Returns false if it is no longer in state `from`. Call it under `lockSync`. */
export async function changeSync(
  db: Db,
  { org_id, sync_id }: SyncKey,
  from: SyncState,
  change: SyncChange,
): Promise<boolean> {
  const error = change.last_import_error
  const sets = [
    sql`state = ${change.state ?? from}`,
    ...(change.held_reason === undefined ? [] : [sql`held_reason = ${change.held_reason}`]),
    ...(change.held_through === undefined ? [] : [sql`held_through = ${change.held_through}`]),
    ...(change.filter_hash === undefined ? [] : [sql`filter_hash = ${change.filter_hash}`]),
    ...(change.recent_counts === undefined ? [] : [sql`recent_counts = ${change.recent_counts}::bigint[]`]),
    ...(change.planned_tick === undefined ? [] : [sql`planned_tick = ${change.planned_tick}`]),
    ...(error === undefined
      ? []
      : [sql`last_import_error = ${error === null ? null : JSON.stringify(error)}::jsonb`]),
    ...(change.cycled === undefined ? [] : [sql`last_cycle_at = now()`]),
    ...(change.due === undefined ? [] : [sql`next_cycle_at = now()`]),
  ]
  const { numAffectedRows } = await sql`update segment_syncs set ${sql.join(sets)}
    where org_id = ${org_id} and sync_id = ${sync_id} and state = ${from}`.execute(db)
  return numAffectedRows === 1n
}
