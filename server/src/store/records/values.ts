import { sql } from 'kysely'
import type { EntityKind } from '#contract/records.ts'
import type { Db } from '../connection/db.ts'

/** `json` is text that PostgreSQL can hold. */
export type NewValue = { entityId: string; field: string; source: string; json: string; at: string }

const isDistinct = (values: readonly NewValue[]) =>
  new Set(values.map(({ entityId, field, source }) => `${entityId} ${source} ${field}`)).size ===
  values.length

const COLUMNS = sql`org_id, entity_id, field, source, value_hash, value, first_seen, last_seen`
const HASH = sql`sha256(convert_to(value::text, 'UTF8'))`

const listGiven = (values: readonly NewValue[]) => sql`
  select entity_id, field, source, json::jsonb as value, at
  from unnest(
    ${values.map(({ entityId }) => entityId)}::uuid[], ${values.map(({ field }) => field)}::text[],
    ${values.map(({ source }) => source)}::text[], ${values.map(({ json }) => json)}::text[],
    ${values.map(({ at }) => at)}::timestamptz[]
  ) as t (entity_id, field, source, json, at)`

const listDistinct = (orgId: string, values: readonly NewValue[]) =>
  sql`select ${orgId}::uuid, entity_id, field, source, ${HASH}, value, at, at from (${listGiven(values)}) as t`

/** What one source said at one time about a new entity; `fields` is a JSON object. */
export type FirstValues = { entityId: string; fields: string; at: string }

/** Adds what was said about new entities: nothing can be there already, which need not be looked for. */
export async function addFirstValues(
  db: Db,
  orgId: string,
  source: string,
  entities: readonly FirstValues[],
): Promise<void> {
  if (entities.length === 0) return
  await sql`
    insert into record_values (${COLUMNS})
    select ${orgId}::uuid, entity_id, field, ${source}, ${HASH}, value, at, at
    from unnest(
      ${entities.map(({ entityId }) => entityId)}::uuid[], ${entities.map(({ fields }) => fields)}::text[],
      ${entities.map(({ at }) => at)}::timestamptz[]
    ) as t (entity_id, fields, at), jsonb_each(fields::jsonb) as f (field, value)`.execute(db)
}

/** Adds what sources said, or widens the time over which they did. The order of the calls makes no difference. */
export async function addValues(db: Db, orgId: string, values: readonly NewValue[]): Promise<void> {
  if (values.length === 0) return
  // Sorting is for values that may meet in one batch.
  const rows = isDistinct(values)
    ? listDistinct(orgId, values)
    : sql`select ${orgId}::uuid, entity_id, field, source, hash, min(value::text)::jsonb, min(at), max(at)
        from (select *, ${HASH} as hash from (${listGiven(values)}) as t) as h group by 2, 3, 4, 5`
  await sql`
    insert into record_values as v (${COLUMNS})
    ${rows}
    on conflict (org_id, entity_id, field, source, value_hash) do update set
      first_seen = least(v.first_seen, excluded.first_seen), last_seen = greatest(v.last_seen, excluded.last_seen)
    where excluded.first_seen < v.first_seen or excluded.last_seen > v.last_seen`.execute(db)
}

export type FieldType = { kind: EntityKind; field: string; type: string }

/** Keeps which fields there are. One that comes with several types is `mixed`. */
export async function addFieldTypes(db: Db, orgId: string, fields: readonly FieldType[]): Promise<void> {
  if (fields.length === 0) return
  // What is known already is left out first: a conflict would lock its row, and ingests beside each other would wait for it.
  await sql`
    insert into record_fields as f (org_id, kind, field, type)
    select ${orgId}, kind, field, type from (
      select kind, field, case when min(type) = max(type) then min(type) else 'mixed' end as type
      from unnest(
        ${fields.map(({ kind }) => kind)}::text[], ${fields.map(({ field }) => field)}::text[],
        ${fields.map(({ type }) => type)}::text[]
      ) as t (kind, field, type)
      group by kind, field
    ) as given
    where not exists (
      select from record_fields known where known.org_id = ${orgId} and known.kind = given.kind
        and known.field = given.field and known.type in (given.type, 'mixed'))
    order by kind, field
    on conflict (org_id, kind, field) do update set type = 'mixed'
    where f.type not in (excluded.type, 'mixed')`.execute(db)
}

export async function listFieldTypes(db: Db, orgId: string): Promise<FieldType[]> {
  const { rows } = await sql<FieldType>`
    select kind, field, type from record_fields where org_id = ${orgId} order by kind, field`.execute(db)
  return rows
}

export type ValueRecord = { field: string; source: string; value: string; first_seen: Date; last_seen: Date }

/** Everything that was ever said about an entity's fields, by field, the latest first. `value` is JSON text. */
export async function listValues(db: Db, orgId: string, rootId: string): Promise<ValueRecord[]> {
  const { rows } = await sql<ValueRecord>`
    select v.field, v.source, v.value::text as value, min(v.first_seen) as first_seen, max(v.last_seen) as last_seen
    from record_entities p
    join record_values v on v.org_id = ${orgId} and v.entity_id = p.entity_id
    where p.org_id = ${orgId} and p.root_id = ${rootId}
    group by v.field, v.source, v.value::text, v.value_hash
    order by v.field, max(v.last_seen) desc, v.source, v.value_hash`.execute(db)
  return rows
}
