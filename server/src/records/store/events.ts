import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'

export type NewEvent = { entityId: string; type: string; at: string; source: string; json: string }

/** Adds events. An equal event is not added again. Returns the entities with new events. */
export async function addEvents(db: Db, orgId: string, events: readonly NewEvent[]): Promise<string[]> {
  if (events.length === 0) return []
  const { rows } = await sql<{ entity_id: string }>`
    insert into record_events (org_id, entity_id, type, at, source, data_hash, data)
    select ${orgId}, entity_id, type, at, source, sha256(convert_to(json::jsonb::text, 'UTF8')), json::jsonb
    from unnest(
      ${events.map(({ entityId }) => entityId)}::uuid[], ${events.map(({ type }) => type)}::text[],
      ${events.map(({ at }) => at)}::timestamptz[], ${events.map(({ source }) => source)}::text[],
      ${events.map(({ json }) => json)}::text[]
    ) as t (entity_id, type, at, source, json)
    on conflict do nothing
    returning entity_id`.execute(db)
  return rows.map(({ entity_id }) => entity_id)
}

export type EventRecord = { type: string; at: Date; source: string; data: string }

/** The latest `limit` events of an entity, of these types; of every type where there are none. */
export type EventQuery = { rootId: string; limit: number; types?: readonly string[] }

/** Lists the latest events of entities, a list for each query. `data` is JSON text. */
export async function listEvents(
  db: Db,
  orgId: string,
  queries: readonly EventQuery[],
): Promise<EventRecord[][]> {
  const types = queries.flatMap(({ types: wanted = [] }) => wanted)
  // Each query names a slice of one list, because rows of an array in PostgreSQL have the same length.
  let last = 0
  const lasts = queries.map(({ types: wanted = [] }) => (last += wanted.length))
  const firsts = queries.map(({ types: wanted = [] }, n) => (lasts[n] ?? 0) - wanted.length + 1)
  const { rows } = await sql<EventRecord & { n: number }>`
    select query.n::int as n, e.type, e.at, e.source, e.data
    from unnest(
      ${queries.map(({ rootId }) => rootId)}::uuid[], ${queries.map(({ limit }) => limit)}::int[],
      ${firsts}::int[], ${lasts}::int[]
    ) with ordinality as query (root_id, most, first, last, n)
    cross join lateral (
      select e.type, e.at, e.source, e.data::text as data, e.data_hash
      from record_entities p cross join lateral (
        select * from record_events where org_id = ${orgId} and entity_id = p.entity_id offset 0
      ) e
      where p.org_id = ${orgId} and p.root_id = query.root_id
        and (query.first > query.last or e.type = any((${types}::text[])[query.first:query.last]))
      group by e.type, e.at, e.source, e.data::text, e.data_hash
      order by e.at desc, e.type, e.source, e.data_hash limit query.most
    ) e
    order by query.n, e.at desc, e.type, e.source, e.data_hash`.execute(db)
  const found = Map.groupBy(rows, ({ n }) => n)
  return queries.map((_, place) =>
    (found.get(place + 1) ?? []).map(({ type, at, source, data }) => ({ type, at, source, data })),
  )
}
