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

/** Lists the latest events of an entity, of the given types or of all. `data` is JSON text. */
export async function listEvents(
  db: Db,
  orgId: string,
  rootId: string,
  limit: number,
  types: readonly string[] = [],
): Promise<EventRecord[]> {
  const { rows } = await sql<EventRecord>`
    select e.type, e.at, e.source, e.data::text as data
    from record_entities p join record_events e on e.org_id = ${orgId} and e.entity_id = p.entity_id
    where p.org_id = ${orgId} and p.root_id = ${rootId}
      and (cardinality(${types}::text[]) = 0 or e.type = any(${types}::text[]))
    group by e.type, e.at, e.source, e.data::text, e.data_hash
    order by e.at desc, e.type, e.source, e.data_hash limit ${sql.lit(limit)}`.execute(db)
  return rows
}
