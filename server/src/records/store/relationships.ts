import { sql } from 'kysely'
import type { EntityKind } from '#contract/records.ts'
import type { Db } from '../../database/connection/db.ts'

export type NewRelationship = { fromId: string; type: string; toId: string; source: string; at: string }

/** Adds relationships. Returns both ends of the new ones. */
export async function addRelationships(
  db: Db,
  orgId: string,
  relationships: readonly NewRelationship[],
): Promise<string[]> {
  if (relationships.length === 0) return []
  const { rows } = await sql<{ from_id: string; to_id: string; is_new: boolean }>`
    insert into record_relationships as r (org_id, from_id, type, to_id, source, first_seen, last_seen)
    select ${orgId}, from_id, type, to_id, source, min(at), max(at)
    from unnest(
      ${relationships.map(({ fromId }) => fromId)}::uuid[], ${relationships.map(({ type }) => type)}::text[],
      ${relationships.map(({ toId }) => toId)}::uuid[], ${relationships.map(({ source }) => source)}::text[],
      ${relationships.map(({ at }) => at)}::timestamptz[]
    ) as t (from_id, type, to_id, source, at)
    group by 2, 3, 4, 5
    on conflict (org_id, from_id, type, to_id, source) do update set
      first_seen = least(r.first_seen, excluded.first_seen), last_seen = greatest(r.last_seen, excluded.last_seen)
    where excluded.first_seen < r.first_seen or excluded.last_seen > r.last_seen
    returning from_id, to_id, xmax = 0 as is_new`.execute(db)
  return rows.filter(({ is_new }) => is_new).flatMap(({ from_id, to_id }) => [from_id, to_id])
}

export type RelationshipRecord = {
  direction: 'from' | 'to'
  type: string
  entity_id: string
  kind: EntityKind
  source: string
  first_seen: Date
  last_seen: Date
}

/** Lists relationships of each entity in both directions, at most `limit`, each with the root at its other end. */
export async function listRelationships(
  db: Db,
  orgId: string,
  rootIds: readonly string[],
  limit: number,
): Promise<Map<string, RelationshipRecord[]>> {
  const { rows } = await sql<RelationshipRecord & { root_id: string }>`
    select root.id as root_id, found.*
    from unnest(${[...new Set(rootIds)]}::uuid[]) as root (id)
    cross join lateral (
      with parts as materialized (
        select entity_id from record_entities where org_id = ${orgId} and root_id = root.id
      ), ends as (
        select 'to' as direction, r.type, r.to_id as other_id, r.source, r.first_seen, r.last_seen
        from parts cross join lateral (
          select * from record_relationships where org_id = ${orgId} and from_id = parts.entity_id offset 0
        ) r
        union all
        select 'from', r.type, r.from_id, r.source, r.first_seen, r.last_seen
        from parts cross join lateral (
          select * from record_relationships where org_id = ${orgId} and to_id = parts.entity_id offset 0
        ) r
      )
      select direction, type, e.root_id as entity_id, e.kind, source,
        min(first_seen) as first_seen, max(last_seen) as last_seen
      from ends cross join lateral (
        select root_id, kind from record_entities where org_id = ${orgId} and entity_id = ends.other_id offset 0
      ) e
      group by direction, type, e.root_id, e.kind, source
      order by direction desc, type, e.root_id, source limit ${sql.lit(limit)}
    ) found
    order by found.direction desc, found.type, found.entity_id, found.source`.execute(db)
  const found = Map.groupBy(rows, ({ root_id }) => root_id)
  return new Map([...found].map(([id, of]) => [id, of.map(toRelationship)]))
}

const toRelationship = ({
  direction,
  type,
  entity_id,
  kind,
  source,
  first_seen,
  last_seen,
}: RelationshipRecord): RelationshipRecord => ({
  direction,
  type,
  entity_id,
  kind,
  source,
  first_seen,
  last_seen,
})

export type Related = { fromId: string; type: string; toId: string }

const between = (
  orgId: string,
  { fromId, type, toId }: Related,
) => sql`r.org_id = ${orgId} and r.type = ${type}
  and r.from_id in (select entity_id from record_entities where org_id = ${orgId} and root_id = ${fromId})
  and r.to_id in (select entity_id from record_entities where org_id = ${orgId} and root_id = ${toId})`

/** Returns true if any source reports this relationship between the roots. */
export async function hasRelationship(db: Db, orgId: string, related: Related): Promise<boolean> {
  const { rows } = await sql`
    select from record_relationships r where ${between(orgId, related)} limit 1`.execute(db)
  return rows.length > 0
}

/** Removes a relationship, whichever source reported it. Returns false if none did. */
export async function removeRelationship(db: Db, orgId: string, related: Related): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from record_relationships r where ${between(orgId, related)}`.execute(db)
  return (numAffectedRows ?? 0n) > 0n
}
