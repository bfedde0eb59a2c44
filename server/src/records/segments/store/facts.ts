import { type RawBuilder, sql } from 'kysely'
import type { EntityKind } from '#contract/records.ts'
import type { Db } from '../../../database/connection/db.ts'

/** The values of the named fields as a JSON array in the order of the names. Null for a missing field. */
export type FieldFacts = { entity_id: string; values: string }

/** Reads the fields of entities of this kind that are neither merged into another nor erased. */
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
 * Finds entities with large or compressed fields. `bytes` is an upper bound: one compressed byte may hold up to 256
 * bytes.
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
 * Reads the latest events of a type in a window, up to a limit, and the first event after now. Times are rounded up to
 * milliseconds, so that an event has happened when it is due. Merged parts may have the same event; it counts once.
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
          ${since === null ? sql`` : sql`and at > ${since}::timestamptz`}
        order by at desc limit ${sql.lit(limit)}
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

/** Returns the columns of the entity's own end and of the other end. */
const endsOf = (direction: Direction) =>
  direction === 'to' ? { own: 'from_id', other: 'to_id' } : { own: 'to_id', other: 'from_id' }

/** The position of a relationship in reading order. */
export type RelatedPlace = { own_id: string; other_id: string }
/**
 * A relationship. `related_id` is the root at the other end. It is null if that root is of another kind, is the same
 * entity, or is returned on another relationship.
 */
export type RelatedPair = RelatedPlace & { root_id: string; related_id: string | null }

/**
 * Reads relationships of these roots after a position, in index order: the cost of a page depends on its size, not on
 * the total. Merged parts may repeat a relationship between two roots; the first one counts.
 */
export async function readRelated(
  db: Db,
  { orgId, rootIds }: { orgId: string; rootIds: readonly string[] },
  { type, direction, kind }: RelationshipEnds,
  { after, limit }: { after: RelatedPlace | null; limit: number },
): Promise<RelatedPair[]> {
  const { rows } = await relatedQuery(orgId, rootIds, { type, direction, kind }, { after, limit }).execute(db)
  return rows
}

/**
 * Tests whether other entities were merged into this root. Only then may it have several relationships with another
 * root.
 */
const hasParts = (orgId: string, rootId: RawBuilder<unknown>) => sql`exists (select from record_entities part
  where part.org_id = ${orgId} and part.root_id = ${rootId} and part.entity_id <> part.root_id)`

/** Builds the statement of `readRelated`. */
export function relatedQuery(
  orgId: string,
  rootIds: readonly string[],
  { type, direction, kind }: RelationshipEnds,
  { after, limit }: { after: RelatedPlace | null; limit: number },
) {
  const ends = endsOf(direction)
  const [own, other] = [sql.ref(ends.own), sql.ref(ends.other)]
  const laterPart = after === null ? sql`` : sql`where entity_id >= ${after.own_id}`
  // The bound is one expression, so that the index scan starts there.
  const laterEnd =
    after === null
      ? sql``
      : sql`and ${other} > case when p.entity_id = ${after.own_id} then ${after.other_id}
          else '00000000-0000-0000-0000-000000000000' end::uuid`
  return sql<RelatedPair>`
    with parts as materialized (
      select entity_id, root_id from record_entities where org_id = ${orgId} and root_id = any(${rootIds}::uuid[])
    ), page as materialized (
      select p.root_id, p.is_merged, p.entity_id as own_id, r.other_id
      from (
        select entity_id, root_id, ${hasParts(orgId, sql.ref('parts.root_id'))} as is_merged from parts
        ${laterPart} order by entity_id
      ) as p cross join lateral (
        select distinct ${other} as other_id from record_relationships
        where org_id = ${orgId} and ${own} = p.entity_id and type = ${type} ${laterEnd} order by 1 limit ${sql.lit(limit)}
      ) as r
      order by p.entity_id, r.other_id limit ${sql.lit(limit)}
    )
    select page.root_id, page.own_id, page.other_id, o.root_id as related_id
    from page
    left join record_entities o on o.org_id = ${orgId} and o.entity_id = page.other_id and o.kind = ${kind}
      and o.root_id <> page.root_id
      and case when page.is_merged or ${hasParts(orgId, sql.ref('o.root_id'))} then not exists (
        select from record_entities mine
        join record_entities theirs on theirs.org_id = ${orgId} and theirs.root_id = o.root_id
        join record_relationships r on r.org_id = ${orgId} and r.${own} = mine.entity_id and r.type = ${type}
          and r.${other} = theirs.entity_id
        where mine.org_id = ${orgId} and mine.root_id = page.root_id and theirs.kind = ${kind}
          and (mine.entity_id, theirs.entity_id) < (page.own_id, page.other_id)) else true end
    order by page.own_id, page.other_id`
}

/**
 * Marks entities related to changed ones for evaluation in the next turn, because the filter follows that relationship.
 */
export async function markRelated(
  db: Db,
  { org_id, segment_id, kind }: { org_id: string; segment_id: string; kind: EntityKind },
  changedIds: readonly string[],
  { type, direction }: Pick<RelationshipEnds, 'type' | 'direction'>,
): Promise<void> {
  const { own, other } = endsOf(direction)
  const [ownEnd, otherEnd] = [sql.ref(`r.${own}`), sql.ref(`r.${other}`)]
  await sql`
    insert into segment_members as m (org_id, segment_id, entity_id, check_at)
    select distinct ${org_id}::uuid, ${segment_id}::uuid, o.root_id, '-infinity'::timestamptz
    from record_entities c
    join record_entities p on p.org_id = ${org_id} and p.root_id = c.root_id
    join record_relationships r on r.org_id = ${org_id} and ${otherEnd} = p.entity_id and r.type = ${type}
    join record_entities o on o.org_id = ${org_id} and o.entity_id = ${ownEnd} and o.kind = ${kind}
    where c.org_id = ${org_id} and c.entity_id = any(${changedIds}::uuid[])
    on conflict (org_id, segment_id, entity_id) do update set check_at = excluded.check_at
    where m.check_at is distinct from excluded.check_at`.execute(db)
}
