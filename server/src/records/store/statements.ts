import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'

/** What one source says about an entity at one time. `fields` is a JSON object that PostgreSQL can hold. */
export type Statement = { entityId: string; fields: string; at: string }

const COLUMNS = sql`org_id, entity_id, source, fields_hash, fields, first_seen, last_seen`
export const FIELDS_HASH = sql`sha256(convert_to(fields::text, 'UTF8'))`

/** A statement that is there already, as `v`, was said over the time of both. */
export const WIDEN = sql`
  on conflict (org_id, entity_id, source, fields_hash) do update set
    first_seen = least(v.first_seen, excluded.first_seen), last_seen = greatest(v.last_seen, excluded.last_seen)
  where excluded.first_seen < v.first_seen or excluded.last_seen > v.last_seen`

const listGiven = (statements: readonly Statement[]) => {
  const records = statements.map(
    ({ entityId, fields, at }) => `{"i":"${entityId}","f":${fields},"a":"${at}"}`,
  )
  return sql`jsonb_to_recordset(${`[${records.join()}]`}::jsonb) as t (i uuid, f jsonb, a timestamptz)`
}

/** A source that says something else each time would repeat with each statement what has not changed. */
const MAX_WHOLE = 4

/**
 * Keeps statements about entities that are there, of which each is named once: as they are where the source has said little
 * yet, or says the same again, which widens the time over which it did. Answers of which entities that was news, and which
 * statements were not kept: those are to be added by their fields.
 */
export async function addStatements(
  db: Db,
  orgId: string,
  source: string,
  statements: readonly Statement[],
): Promise<{ news: string[]; others: Set<string> }> {
  if (statements.length === 0) return { news: [], others: new Set() }
  const stored = sql`select true from record_statements s
    where s.org_id = ${orgId} and s.entity_id = t.entity_id and s.source = ${source}`
  const { rows } = await sql<{ entity_id: string; kept: boolean }>`
    with hashed as materialized (
      select i as entity_id, f as fields, a as at, sha256(convert_to(f::text, 'UTF8')) as hash
      from ${listGiven(statements)}
    ), given as materialized (
      select *, (${stored} and s.fields_hash = t.hash limit 1) is true
        or (select count(*) from (${stored} limit ${sql.lit(MAX_WHOLE)}) as known) < ${sql.lit(MAX_WHOLE)} as kept
      from hashed t
    ), added as (
      insert into record_statements as v (${COLUMNS})
      select ${orgId}::uuid, entity_id, ${source}, hash, fields, at, at from given where kept
      ${WIDEN}
      returning entity_id
    )
    select entity_id, true as kept from added union all select entity_id, false from given where not kept`.execute(
    db,
  )
  const ids = (kept: boolean) => rows.filter((row) => row.kept === kept).map(({ entity_id }) => entity_id)
  return { news: ids(true), others: new Set(ids(false)) }
}

export type FieldNews = { entity_id: string; field: string }

/** Keeps each field as a statement of its own, or widens the time of it. Answers for which of them that was news. */
export async function addStatementsByField(
  db: Db,
  orgId: string,
  source: string,
  statements: readonly Statement[],
): Promise<FieldNews[]> {
  if (statements.length === 0) return []
  const { rows } = await sql<FieldNews>`
    insert into record_statements as v (${COLUMNS})
    select ${orgId}::uuid, entity_id, ${source}, hash, min(fields::text)::jsonb, min(at), max(at)
    from (
      select entity_id, fields, at, ${FIELDS_HASH} as hash
      from (
        select t.i as entity_id, jsonb_build_object(field, value) as fields, t.a as at
        from ${listGiven(statements)}, jsonb_each(t.f) as each (field, value)
      ) as single
    ) as hashed
    group by entity_id, hash
    ${WIDEN}
    returning entity_id, (select field from jsonb_object_keys(v.fields) as field) as field`.execute(db)
  return rows
}

export type ValueRecord = { field: string; source: string; value: string; first_seen: Date; last_seen: Date }

/** Everything that was ever said about an entity's fields, by field, the latest first. `value` is JSON text. */
export async function listValues(db: Db, orgId: string, rootId: string): Promise<ValueRecord[]> {
  const { rows } = await sql<ValueRecord>`
    select f.field, s.source, f.value::text as value, min(s.first_seen) as first_seen, max(s.last_seen) as last_seen
    from record_entities p
    join record_statements s on s.org_id = ${orgId} and s.entity_id = p.entity_id
    cross join jsonb_each(s.fields) as f (field, value)
    where p.org_id = ${orgId} and p.root_id = ${rootId}
    group by f.field, s.source, f.value::text
    order by f.field, max(s.last_seen) desc, s.source, f.value::text collate "C"`.execute(db)
  return rows
}
