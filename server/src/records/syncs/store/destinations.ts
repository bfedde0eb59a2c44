import { sql } from 'kysely'
import type { DESTINATION_STATES, REENTRY_MODES, RUN_MODES } from '#contract/segment-syncs.ts'
import type { Db } from '../../../database/connection/db.ts'
import { newId } from '../../../lib/ids.ts'
import type { SyncKey } from './syncs.ts'

export type DestinationState = (typeof DESTINATION_STATES)[number]
/** A field or identifier of members, mapped to an input. */
export type MappedInput = { input: string; field: string }

export type DestinationKey = { org_id: string; connection_id: string }
export type DestinationRecord = DestinationKey & {
  sync_id: string
  workflow_id: string
  mapping: MappedInput[]
  run: (typeof RUN_MODES)[number]
  reentry_mode: (typeof REENTRY_MODES)[number]
  state: DestinationState
  /** The feed number up to which entered members have been handled. */
  position: number
  /** The feed number up to which entered members may be delivered. */
  cleared_through: number
  delivered: number
  created_by: string
  /** The credit limit of the rows that a cycle starts. */
  max_credits_millis: number | null
}

const COLUMNS = sql`org_id, connection_id, sync_id, workflow_id, mapping, run, reentry_mode, state, position,
  cleared_through, delivered, created_by, max_credits_millis`

export type NewDestination = SyncKey &
  Pick<
    DestinationRecord,
    'workflow_id' | 'mapping' | 'run' | 'reentry_mode' | 'created_by' | 'max_credits_millis'
  > & {
    pushExisting: boolean
    /** The last number of the feed: members that entered up to it are existing ones. */
    lastSeq: number
  }

/**
 * Adds a workflow to a sync, or configures it again. With `pushExisting`, delivery restarts from the beginning. A
 * member that was delivered before is not delivered again. Call it under the lock of the sync.
 */
export async function putDestination(db: Db, made: NewDestination): Promise<string> {
  const { org_id, sync_id, workflow_id, run, reentry_mode, pushExisting } = made
  const start = pushExisting ? 0 : made.lastSeq
  const { rows } = await sql<{ connection_id: string }>`
    insert into segment_destinations as d (org_id, connection_id, sync_id, workflow_id, mapping, run, reentry_mode,
      position, cleared_through, created_by, max_credits_millis)
    values (${org_id}, ${newId()}, ${sync_id}, ${workflow_id}, ${JSON.stringify(made.mapping)}::jsonb, ${run},
      ${reentry_mode}, ${start}, ${start}, ${made.created_by}, ${made.max_credits_millis}::bigint)
    on conflict (org_id, sync_id, workflow_id) do update set mapping = excluded.mapping, run = excluded.run,
      reentry_mode = excluded.reentry_mode, max_credits_millis = excluded.max_credits_millis,
      position = case when ${pushExisting}::boolean then 0 else d.position end,
      cleared_through = case when ${pushExisting}::boolean then 0 else d.cleared_through end
    returning d.connection_id`.execute(db)
  const [destination] = rows
  if (destination === undefined) throw new Error('a destination was neither made nor found')
  return destination.connection_id
}

/** Lists destinations, in the order in which they were added. */
export async function listDestinations(
  db: Db,
  orgId: string,
  syncIds: readonly string[],
): Promise<DestinationRecord[]> {
  const { rows } = await sql<DestinationRecord>`select ${COLUMNS} from segment_destinations
    where org_id = ${orgId} and sync_id = any(${syncIds}::uuid[]) order by connection_id`.execute(db)
  return rows
}

/** The access to a destination, which depends on its workflow, even a deleted one. */
export type DestinationAccess = { connection_id: string; owner_id: string | null; is_shared: boolean }

export async function listDestinationAccess(
  db: Db,
  orgId: string,
  memberId: string,
  syncIds: readonly string[],
): Promise<DestinationAccess[]> {
  const { rows } = await sql<DestinationAccess>`
    select d.connection_id, w.owner_id, exists (
        select from workflow_shares h
        where h.org_id = ${orgId} and h.workflow_id = d.workflow_id and h.member_id = ${memberId}
      ) as is_shared
    from segment_destinations d
    left join workflows w on w.org_id = ${orgId} and w.workflow_id = d.workflow_id
    where d.org_id = ${orgId} and d.sync_id = any(${syncIds}::uuid[])`.execute(db)
  return rows
}

/**
 * Changes the state of a destination. Returns false if it is not in state `from`. Call it under the lock of the sync.
 */
export async function setDestinationState(
  db: Db,
  { org_id, connection_id }: DestinationKey,
  from: DestinationState,
  to: DestinationState,
): Promise<boolean> {
  const { numAffectedRows } = await sql`update segment_destinations set state = ${to}
    where org_id = ${org_id} and connection_id = ${connection_id} and state = ${from}`.execute(db)
  return numAffectedRows === 1n
}

/** Allows delivery of members up to a number of the feed. */
export async function clearDestinations(
  db: Db,
  orgId: string,
  connectionIds: readonly string[],
  through: number,
): Promise<void> {
  await sql`update segment_destinations set cleared_through = greatest(cleared_through, ${through}::bigint)
    where org_id = ${orgId} and connection_id = any(${connectionIds}::uuid[])`.execute(db)
}

/** Skips members up to a number of the feed. */
export async function skipDestinations(
  db: Db,
  orgId: string,
  connectionIds: readonly string[],
  through: number,
): Promise<void> {
  await sql`update segment_destinations set position = greatest(position, ${through}::bigint),
      cleared_through = greatest(cleared_through, ${through}::bigint)
    where org_id = ${orgId} and connection_id = any(${connectionIds}::uuid[])`.execute(db)
}

export async function moveDestination(
  db: Db,
  { org_id, connection_id }: DestinationKey,
  { position, delivered }: { position: number; delivered: number },
): Promise<void> {
  await sql`update segment_destinations
    set position = greatest(position, ${position}::bigint), delivered = delivered + ${delivered}::bigint
    where org_id = ${org_id} and connection_id = ${connection_id}`.execute(db)
}
