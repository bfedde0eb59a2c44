import { type RawBuilder, sql } from 'kysely'
import type { EntityKind } from '#contract/records.ts'
import type { Db } from '../../database/connection/db.ts'

export type Search = {
  kind: EntityKind | null
  /** The start of an identifier. */
  prefix: string | null
  /** JSON objects by field. The fields must contain one spelling of each. */
  fields: string[][]
  limit: number
  /** The last id of the previous page. */
  after?: string
}

/** The maximum number of identifiers to look up one by one, instead of reading all entities in order. */
const NARROW = 50_000

/**
 * Searches entities, oldest first. Identifiers are looked up in an index; conditions on fields alone read every entity.
 */
export async function searchEntities(db: Db, orgId: string, search: Search): Promise<string[]> {
  const { kind, prefix, fields, limit, after } = search
  const conditions = [
    sql`e.org_id = ${orgId} and e.root_id = e.entity_id and e.erased_at is null`,
    ...(kind === null ? [] : [sql`e.kind = ${kind}`]),
    ...(after === undefined ? [] : [sql`e.entity_id > ${after}`]),
    ...(prefix === null ? [] : [await isIdentified(db, orgId, prefix)]),
    ...fields.map((spellings) => sql`e.fields @> any(${spellings}::jsonb[])`),
  ]
  const { rows } = await sql<{ entity_id: string }>`
    select e.entity_id from record_entities e where ${sql.join(conditions, sql` and `)}
    order by e.entity_id limit ${sql.lit(limit)}`.execute(db)
  return rows.map(({ entity_id }) => entity_id)
}

/** Tests that an identifier of `e` has this prefix: by a list if few match, otherwise by a lookup for each entity. */
async function isIdentified(db: Db, orgId: string, prefix: string): Promise<RawBuilder<unknown>> {
  const begins = sql`i.org_id = ${orgId} and i.identifier >= ${prefix} and i.identifier < ${`${prefix}\u{10FFFF}`}`
  const { rows } = await sql<{ count: number }>`
    select count(*) from (select from record_identifiers i where ${begins} limit ${sql.lit(NARROW + 1)}) few`.execute(
    db,
  )
  if ((rows[0]?.count ?? 0) <= NARROW)
    return sql`e.entity_id = any(array(
      select part.root_id from (select distinct entity_id from record_identifiers i where ${begins}) found,
        lateral (select root_id from record_entities where org_id = ${orgId} and entity_id = found.entity_id offset 0) part))`
  // `is true` keeps the index on identifiers from being used: the lookup must go from the entity to its identifiers.
  return sql`exists (
    select from record_entities part, lateral (
      select from record_identifiers i
      where i.org_id = ${orgId} and i.entity_id = part.entity_id and (${begins}) is true limit 1
    ) i
    where part.org_id = ${orgId} and part.root_id = e.entity_id offset 0)`
}

/** An entity that was found: `entity_id` is its place in the order, `root_id` the entity that it belongs to now. */
export type Match = { entity_id: string; root_id: string }
export type ValueSearch = {
  kind: EntityKind
  /** Texts that must all occur in some value or identifier. */
  words: readonly string[]
  after: string
  /** The number of entities to look at, and the most to find. */
  look: number
  limit: number
}

/**
 * Looks through the next entities by id for words in their values and identifiers. `last` is the last entity looked at,
 * or null if there are no further ones.
 */
export async function searchValues(
  db: Db,
  orgId: string,
  { kind, words, after, look, limit }: ValueSearch,
): Promise<{ matches: Match[]; last: string | null }> {
  const conditions = words.map((word) => {
    const pattern = containing(word)
    // The text of all fields is a cheap first test: it also has the names of the fields.
    return sql`((e.root_id = e.entity_id and e.fields::text ilike ${containing(JSON.stringify(word).slice(1, -1))}
        and exists (select from jsonb_each_text(e.fields) as f (name, value) where f.value ilike ${pattern}))
      or exists (select from record_identifiers i
        where i.org_id = ${orgId} and i.entity_id = e.entity_id and i.identifier ilike ${pattern}))`
  })
  const { rows } = await sql<{ looked: number; last: string | null; matches: Match[] }>`
    with e as materialized (
      select entity_id, root_id, kind, erased_at, fields from record_entities
      where org_id = ${orgId} and entity_id > ${after}::uuid order by entity_id limit ${sql.lit(look)}
    ), found as (
      select e.entity_id, e.root_id from e
      where e.kind = ${kind} and e.erased_at is null and ${sql.join(conditions, sql` and `)}
      order by e.entity_id limit ${sql.lit(limit)}
    )
    select (select count(*) from e)::int as looked,
      (select entity_id from e order by entity_id desc limit 1) as last,
      coalesce((select jsonb_agg(found order by entity_id) from found), '[]') as matches`.execute(db)
  const [page] = rows
  if (page === undefined) throw new Error('a search returned no page')
  return { matches: page.matches, last: page.looked < look ? null : page.last }
}

const containing = (text: string) => `%${text.replace(/[\\%_]/g, String.raw`\$&`)}%`

/** Returns the first entities whose fields fit into the given bytes together, at least one. */
export async function fitEntities(
  db: Db,
  orgId: string,
  entityIds: readonly string[],
  maxBytes: number,
): Promise<string[]> {
  const { rows } = await sql<{ entity_id: string }>`
    select entity_id from (
      select entity_id, row_number() over in_order as place,
        sum(octet_length(fields::text)) over in_order as bytes
      from record_entities where org_id = ${orgId} and entity_id = any(${entityIds}::uuid[])
      window in_order as (order by entity_id)
    ) as sized
    where place = 1 or bytes <= ${maxBytes} order by entity_id`.execute(db)
  return rows.map(({ entity_id }) => entity_id)
}

/** Weight of each record beside its values. */
const RECORD_BYTES = 64

/**
 * Returns which ids lead to entities about which more than `maxBytes` are stored: fields, identifiers, relationships and events,
 * together with those of the entities that were merged into them. Counts no further.
 */
export async function findLargeEntities(
  db: Db,
  orgId: string,
  entityIds: readonly string[],
  maxBytes: number,
): Promise<Set<string>> {
  const most = Math.ceil(maxBytes / RECORD_BYTES) + 1
  const recordsOf = (table: string, key: string, bytes: RawBuilder<unknown>) => sql`(
        select ${bytes} as bytes from parts cross join lateral (
          select * from ${sql.table(table)} where org_id = ${orgId} and ${sql.ref(key)} = parts.entity_id offset 0
        ) r limit ${sql.lit(most)})`
  const { rows } = await sql<{ id: string }>`
    select asked.id from unnest(${[...new Set(entityIds)]}::uuid[]) as asked (id)
    cross join lateral (
      select root_id from record_entities where org_id = ${orgId} and entity_id = asked.id limit 1
    ) e
    cross join lateral (
      with parts as materialized (
        select entity_id, pg_column_size(fields) + pg_column_size(provenance) as bytes
        from record_entities where org_id = ${orgId} and root_id = e.root_id limit ${sql.lit(most)}
      )
      select sum(bytes + ${sql.lit(RECORD_BYTES)}) as bytes from (
        select bytes from parts
        union all ${recordsOf('record_identifiers', 'entity_id', sql`octet_length(r.identifier)`)}
        union all ${recordsOf('record_relationships', 'from_id', sql`0`)}
        union all ${recordsOf('record_relationships', 'to_id', sql`0`)}
        union all ${recordsOf('record_events', 'entity_id', sql`pg_column_size(r.data)`)}
      ) stored
    ) known
    where known.bytes > ${maxBytes}`.execute(db)
  return new Set(rows.map(({ id }) => id))
}
