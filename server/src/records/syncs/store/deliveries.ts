import { sql } from 'kysely'
import type { Db } from '../../../database/connection/db.ts'
import { limitSql } from '../../../database/connection/limits.ts'
import type { DestinationKey, DestinationRecord } from './destinations.ts'
import type { Member } from './waiting.ts'

/** Tests that the day of counting is not over. It starts with the first counted delivery of a member. */
const IS_SAME_DAY = sql`coalesce(x.counted_from, x.delivered_at) > now() - interval '1 day'`

/** Finds the first of these members that has reached its daily limit of deliveries, and the limit. */
export async function findOscillatingMember(
  db: Db,
  { org_id, connection_id, reentry_mode }: DestinationRecord,
  members: readonly Member[],
): Promise<{ member: Member; limit: number } | null> {
  if (reentry_mode !== 'repush') return null
  const { rows } = await sql<{ place: number; limit: number }>`
    select t.place::int as place, ${limitSql('repushPerDay')} as limit
    from unnest(${members.map(({ entity_id }) => entity_id)}::uuid[],
      ${members.map(({ entered_seq }) => entered_seq)}::bigint[]) with ordinality as t (e, s, place)
    join segment_deliveries x on x.org_id = ${org_id} and x.connection_id = ${connection_id} and x.entity_id = t.e
    where x.entered_seq < t.s and x.counted >= ${limitSql('repushPerDay')} and ${IS_SAME_DAY}
    order by t.place limit 1`.execute(db)
  const [oscillating] = rows
  const member = oscillating === undefined ? undefined : members[oscillating.place - 1]
  return oscillating === undefined || member === undefined ? null : { member, limit: oscillating.limit }
}

/**
 * Records the row of each member. Returns the members to deliver: those never delivered, and those with a new entry if
 * re-entries are delivered.
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
      row_id = excluded.row_id, delivered_at = now(), counted = case when ${IS_SAME_DAY} then x.counted + 1 else 1 end,
      counted_from = case when ${IS_SAME_DAY} then coalesce(x.counted_from, x.delivered_at) else now() end
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

/** Lists members whose delivery failed, the longest waiting first. */
export async function listFailures(
  db: Db,
  { org_id, connection_id }: DestinationKey,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ entity_id: string }>`select entity_id from segment_failures
    where org_id = ${org_id} and connection_id = ${connection_id} order by failed_at, entity_id limit ${sql.lit(limit)}`.execute(
    db,
  )
  return rows.map(({ entity_id }) => entity_id)
}

/** Removes a failure. Returns false if it was already removed. */
export async function removeFailure(
  db: Db,
  { org_id, connection_id }: DestinationKey,
  entityId: string,
): Promise<boolean> {
  const { numAffectedRows } = await sql`delete from segment_failures
    where org_id = ${org_id} and connection_id = ${connection_id} and entity_id = ${entityId}`.execute(db)
  return numAffectedRows === 1n
}
