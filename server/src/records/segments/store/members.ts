import { sql } from 'kysely'
import type { EntityKind } from '#contract/records.ts'
import type { Db } from '../../../database/connection/db.ts'
import { NO_ID } from '../../../lib/ids.ts'
import type { SegmentKey } from './segments.ts'

export type Known = { entity_id: string; is_member: boolean; was_member: boolean; check_at: number | null }

/**
 * Finds the stored memberships of these entities. `check_at` is in milliseconds; -Infinity means an immediate check.
 */
export async function findKnown(
  db: Db,
  { org_id, segment_id }: SegmentKey,
  ids: readonly string[],
): Promise<Known[]> {
  const { rows } = await sql<Known>`
    select entity_id, is_member, entered_at is not null as was_member,
      (extract(epoch from check_at) * 1000)::double precision as check_at
    from segment_members
    where org_id = ${org_id} and segment_id = ${segment_id} and entity_id = any(${ids}::uuid[])`.execute(db)
  return rows
}

/** The new state of an entity. `enteredSeq` is its number in the feed, only if it enters now. */
export type Standing = {
  entityId: string
  isMember: boolean
  enteredSeq: number | null
  checkAt: Date | null
}

export async function writeStandings(
  db: Db,
  { org_id, segment_id }: SegmentKey,
  standings: readonly Standing[],
  now: Date,
): Promise<void> {
  if (standings.length === 0) return
  await sql`
    insert into segment_members as m (org_id, segment_id, entity_id, is_member, entered_at, entered_seq, check_at)
    select ${org_id}, ${segment_id}, entity_id, is_member, case when is_member then ${now}::timestamptz end,
      coalesce(entered_seq, 0), check_at
    from unnest(
      ${standings.map(({ entityId }) => entityId)}::uuid[], ${standings.map(({ isMember }) => isMember)}::boolean[],
      ${standings.map(({ enteredSeq }) => enteredSeq)}::bigint[],
      ${standings.map(({ checkAt }) => checkAt)}::timestamptz[]
    ) as t (entity_id, is_member, entered_seq, check_at)
    on conflict (org_id, segment_id, entity_id) do update set is_member = excluded.is_member,
      entered_at = case when excluded.entered_seq > 0 then excluded.entered_at else m.entered_at end,
      entered_seq = case when excluded.entered_seq > 0 then excluded.entered_seq else m.entered_seq end,
      check_at = excluded.check_at`.execute(db)
}

/** Removes entities that were never members and that time cannot make members. */
export async function forgetCandidates(
  db: Db,
  { org_id, segment_id }: SegmentKey,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return
  await sql`delete from segment_members where org_id = ${org_id} and segment_id = ${segment_id}
    and entity_id = any(${ids}::uuid[])`.execute(db)
}

/** Lists the entities due for a check, earliest first. */
export async function listDue(
  db: Db,
  { org_id, segment_id }: SegmentKey,
  now: Date,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ entity_id: string }>`
    select entity_id from segment_members
    where org_id = ${org_id} and segment_id = ${segment_id} and check_at <= ${now}
    order by check_at limit ${sql.lit(limit)}`.execute(db)
  return rows.map(({ entity_id }) => entity_id)
}

export type MemberRecord = { entity_id: string; entered_at: Date }

/** Lists current members by id, after the given id. */
export async function listMembers(
  db: Db,
  { org_id, segment_id }: SegmentKey,
  { after, limit }: { after: string | null; limit: number },
): Promise<MemberRecord[]> {
  const { rows } = await sql<MemberRecord>`
    select entity_id, entered_at from segment_members
    where org_id = ${org_id} and segment_id = ${segment_id} and is_member
      and entity_id > ${after ?? NO_ID}::uuid
    order by entity_id limit ${sql.lit(limit)}`.execute(db)
  return rows
}

export type Membership = { segment_id: string; name: string; entered_at: Date }

/** Lists the segments that an entity is a member of now, by name. */
export async function listSegmentsOfEntity(db: Db, orgId: string, entityId: string): Promise<Membership[]> {
  const { rows } = await sql<Membership>`
    select s.segment_id, s.name, m.entered_at
    from record_segments s cross join lateral (
      select entered_at from segment_members
      where org_id = ${orgId} and segment_id = s.segment_id and entity_id = ${entityId} and is_member offset 0
    ) m
    where s.org_id = ${orgId} order by lower(s.name)`.execute(db)
  return rows
}

/** An entity of any kind. `is_root` is false if it was merged or erased. */
export type ScannedEntity = { entity_id: string; kind: EntityKind; is_root: boolean }

export async function scanEntities(
  db: Db,
  orgId: string,
  after: string | null,
  limit: number,
): Promise<ScannedEntity[]> {
  const { rows } = await sql<ScannedEntity>`
    select entity_id, kind, root_id = entity_id and erased_at is null as is_root from record_entities
    where org_id = ${orgId} and entity_id > ${after ?? NO_ID}::uuid
    order by entity_id limit ${sql.lit(limit)}`.execute(db)
  return rows
}

export type ChangedEntity = { entity_id: string; kind: EntityKind; change_no: number }

export async function readLastChange(db: Db, orgId: string): Promise<number> {
  const { rows } = await sql<{ last_change: number }>`
    select last_change from record_counters where org_id = ${orgId}`.execute(db)
  return rows[0]?.last_change ?? 0
}

/** Lists changes between two numbers, in order. */
export async function listChangedSince(
  db: Db,
  orgId: string,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): Promise<ChangedEntity[]> {
  const { rows } = await sql<ChangedEntity>`
    select entity_id, kind, change_no from record_entities
    where org_id = ${orgId} and change_no > ${after} and change_no <= ${upTo}
    order by change_no limit ${sql.lit(limit)}`.execute(db)
  return rows
}

/** Reads the database's clock, which decides wherever several processes are involved. */
export async function readClock(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db)
  const [clock] = rows
  if (clock === undefined) throw new Error('the database returned no time')
  return clock.now
}
