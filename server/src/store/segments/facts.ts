import { sql } from 'kysely'
import type { EntityKind } from '#contract/records.ts'
import type { Db } from '../connection/db.ts'

/** Values of the named fields as JSON, an array in the order of the names; null for a field that the entity does not have. */
export type FieldFacts = { entity_id: string; values: string }

/** Those of the ids that are entities of this kind: not merged into another, not erased. */
export async function readFields(
  db: Db,
  orgId: string,
  { kind, ids, fields }: { kind: EntityKind; ids: readonly string[]; fields: readonly string[] },
): Promise<FieldFacts[]> {
  const values = fields.map((field) => sql`e.fields -> ${field}::text`)
  const { rows } = await sql<FieldFacts>`
    select e.entity_id, jsonb_build_array(${values.length === 0 ? sql`` : sql.join(values)})::text as values
    from record_entities e
    where e.org_id = ${orgId} and e.entity_id = any(${ids}::uuid[]) and e.root_id = e.entity_id
      and e.erased_at is null and e.kind = ${kind}`.execute(db)
  return rows
}

/**
 * Those of the ids whose fields are large or compressed, with the bytes that they take at most: behind one that is stored there
 * may be 256.
 */
export async function findLargeEntities(
  db: Db,
  orgId: string,
  ids: readonly string[],
): Promise<{ entity_id: string; bytes: number }[]> {
  const { rows } = await sql<{ entity_id: string; bytes: number }>`
    select entity_id, pg_column_size(fields)::bigint * case when pg_column_compression(fields) is null then 1 else 256 end as bytes
    from record_entities where org_id = ${orgId} and entity_id = any(${ids}::uuid[])
      and (pg_column_size(fields) > 2000 or pg_column_compression(fields) is not null)`.execute(db)
  return rows
}

export type EventFacts = { root_id: string; times: number[]; next: number | null }
type EventWindow = { type: string; now: Date; since: Date | null; limit: number }

/**
 * The latest events of a type in a window, up to a limit, and the first one after now. Rounded up to milliseconds, so that
 * what is due by then has happened. Merged parts may have the same event; it counts once.
 */
export async function readEvents(
  db: Db,
  orgId: string,
  rootIds: readonly string[],
  { type, now, since, limit }: EventWindow,
): Promise<EventFacts[]> {
  const { rows } = await sql<EventFacts>`
    with parts as materialized (
      select entity_id, root_id from record_entities where org_id = ${orgId} and root_id = any(${rootIds}::uuid[])
    ), latest as (
      select distinct parts.root_id, e.at, e.source, e.data_hash
      from parts cross join lateral (
        select at, source, data_hash from record_events
        where org_id = ${orgId} and entity_id = parts.entity_id and type = ${type} and at <= ${now}
          and at > coalesce(${since}::timestamptz, '-infinity')
        order by at desc limit ${limit}
      ) as e
    ), upcoming as (
      select parts.root_id, min(e.at) as at
      from parts cross join lateral (
        select at from record_events
        where org_id = ${orgId} and entity_id = parts.entity_id and type = ${type} and at > ${now}
        order by at limit 1
      ) as e
      group by parts.root_id
    ), windows as (
      select root_id, array_agg(${milliseconds('at')} order by at desc) as times from latest group by root_id
    )
    select coalesce(w.root_id, u.root_id) as root_id, coalesce(w.times, '{}') as times, ${milliseconds('u.at')} as next
    from windows w full join upcoming u on u.root_id = w.root_id`.execute(db)
  return rows
}

const milliseconds = (column: string) =>
  sql`ceil(extract(epoch from ${sql.ref(column)}) * 1000)::double precision`

export type Direction = 'to' | 'from'
export type RelationshipEnds = { type: string; direction: Direction; kind: EntityKind }
export type RelatedPair = { root_id: string; related_id: string }

/** Which columns are at the entity's own end and at the other, for what it is related `to`, or related to it `from`. */
const endsOf = (direction: Direction) =>
  direction === 'to'
    ? { own: sql.ref('r.from_id'), other: sql.ref('r.to_id') }
    : { own: sql.ref('r.to_id'), other: sql.ref('r.from_id') }

/** Pairs of these roots and the roots they are related to, by their ids, after that pair. */
export async function readRelated(
  db: Db,
  orgId: string,
  rootIds: readonly string[],
  { type, direction, kind }: RelationshipEnds,
  { after, limit }: { after: RelatedPair | null; limit: number },
): Promise<RelatedPair[]> {
  const { own, other } = endsOf(direction)
  const later =
    after === null ? sql`` : sql`and (p.root_id, o.root_id) > (${after.root_id}, ${after.related_id})`
  const { rows } = await sql<RelatedPair>`
    select distinct p.root_id, o.root_id as related_id
    from record_entities p
    join record_relationships r on r.org_id = ${orgId} and ${own} = p.entity_id and r.type = ${type}
    join record_entities o on o.org_id = ${orgId} and o.entity_id = ${other} and o.kind = ${kind}
    where p.org_id = ${orgId} and p.root_id = any(${rootIds}::uuid[]) and o.root_id <> p.root_id ${later}
    order by 1, 2 limit ${limit}`.execute(db)
  return rows
}

/**
 * Asks for another look, at the next turn, at entities that changed ones are related to, since the filter follows that
 * relationship.
 */
export async function markRelated(
  db: Db,
  { org_id, segment_id, kind }: { org_id: string; segment_id: string; kind: EntityKind },
  changedIds: readonly string[],
  { type, direction }: Pick<RelationshipEnds, 'type' | 'direction'>,
): Promise<void> {
  const { own, other } = endsOf(direction)
  await sql`
    insert into segment_members as m (org_id, segment_id, entity_id, check_at)
    select distinct ${org_id}::uuid, ${segment_id}::uuid, o.root_id, '-infinity'::timestamptz
    from record_entities c
    join record_entities p on p.org_id = ${org_id} and p.root_id = c.root_id
    join record_relationships r on r.org_id = ${org_id} and ${other} = p.entity_id and r.type = ${type}
    join record_entities o on o.org_id = ${org_id} and o.entity_id = ${own} and o.kind = ${kind}
    where c.org_id = ${org_id} and c.entity_id = any(${changedIds}::uuid[])
    on conflict (org_id, segment_id, entity_id) do update set check_at = excluded.check_at
    where m.check_at is distinct from excluded.check_at`.execute(db)
}
