import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { DestinationKey, DestinationRecord } from './destinations.ts'
import type { Member } from './waiting.ts'

/**
 * Records which row each member becomes, and answers the ids of those who are to become one: nobody who did before, save for a
 * new entry where re-entries are delivered.
 */
export async function claimDeliveries(
  db: Db,
  { org_id, connection_id, reentry_mode }: DestinationRecord,
  members: readonly Member[],
  rowIds: readonly string[],
): Promise<Set<string>> {
  const again = reentry_mode === 'repush'
  const { rows } = await sql<{ entity_id: string }>`
    insert into segment_deliveries as x (org_id, connection_id, entity_id, entered_seq, row_id)
    select ${org_id}, ${connection_id}, e, s, r
    from unnest(${members.map(({ entity_id }) => entity_id)}::uuid[],
      ${members.map(({ entered_seq }) => entered_seq)}::bigint[], ${rowIds}::uuid[]) as t (e, s, r)
    on conflict (org_id, connection_id, entity_id) do update set entered_seq = excluded.entered_seq,
      row_id = excluded.row_id, delivered_at = now()
    where ${again}::boolean and x.entered_seq < excluded.entered_seq
    returning x.entity_id`.execute(db)
  return new Set(rows.map(({ entity_id }) => entity_id))
}

export async function recordFailure(
  db: Db,
  { org_id, connection_id }: DestinationKey,
  entityId: string,
  message: string,
): Promise<void> {
  await sql`
    insert into segment_failures as f (org_id, connection_id, entity_id, message)
    values (${org_id}, ${connection_id}, ${entityId}, ${message})
    on conflict (org_id, connection_id, entity_id)
      do update set attempts = f.attempts + 1, message = excluded.message, failed_at = now()`.execute(db)
}

/** Members whose delivery failed, those first that were tried longest ago. */
export async function listFailures(
  db: Db,
  { org_id, connection_id }: DestinationKey,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ entity_id: string }>`select entity_id from segment_failures
    where org_id = ${org_id} and connection_id = ${connection_id} order by failed_at, entity_id limit ${limit}`.execute(
    db,
  )
  return rows.map(({ entity_id }) => entity_id)
}

/** Compare and set: false when it was removed already. */
export async function removeFailure(
  db: Db,
  { org_id, connection_id }: DestinationKey,
  entityId: string,
): Promise<boolean> {
  const { numAffectedRows } = await sql`delete from segment_failures
    where org_id = ${org_id} and connection_id = ${connection_id} and entity_id = ${entityId}`.execute(db)
  return numAffectedRows === 1n
}
