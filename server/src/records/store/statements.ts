import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'

/**
 * The fields that one source reports about an entity at one time. `fields` is a JSON object that PostgreSQL can store.
 */
export type Statement = { entityId: string; fields: string; at: string }

const COLUMNS = sql`org_id, entity_id, source, fields_hash, fields, first_seen, last_seen`
export const FIELDS_HASH = sql`sha256(convert_to(fields::text, 'UTF8'))`

/** Extends the time span of an existing statement `v` to that of both. */
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

/**
 * The maximum number of whole statements per source and entity. A source with a new statement each time would repeat
 * all unchanged fields.
 */
const MAX_WHOLE = 4

/**
 * Stores statements about existing entities, each named once. A statement is stored whole if the source has few
 * statements yet; a repeated statement extends its time span. Returns the entities for which that was new, and the
 * statements not stored: add those with `addStatementsByField`.
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

/** Stores each field as its own statement, or extends its time span. Returns the fields for which that was new. */
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

/** Lists every value of an entity's fields, by field, latest first. `value` is JSON text. */
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
