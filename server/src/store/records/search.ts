import { sql } from 'kysely'
import type { EntityKind } from '#contract/records.ts'
import type { Db } from '../connection/db.ts'

export type Search = {
  kind: EntityKind | null
  /** The beginning of an identifier. */
  prefix: string | null
  /** JSON objects by field; each must be in the fields, in one of its spellings. */
  fields: string[][]
  limit: number
  /** The last id of the page before. */
  after?: string
}

/** Ids of the entities that fit, the oldest first. Identifiers are looked up in an index; fields alone are read one by one. */
export async function searchEntities(db: Db, orgId: string, search: Search): Promise<string[]> {
  const { kind, prefix, fields, limit, after } = search
  const conditions = [
    sql`e.org_id = ${orgId} and e.root_id = e.entity_id and e.erased_at is null`,
    ...(kind === null ? [] : [sql`e.kind = ${kind}`]),
    ...(after === undefined ? [] : [sql`e.entity_id > ${after}`]),
    ...(prefix === null
      ? []
      : [
          sql`e.entity_id in (select part.root_id from record_identifiers i
            join record_entities part on part.org_id = ${orgId} and part.entity_id = i.entity_id
            where i.org_id = ${orgId} and i.identifier >= ${prefix} and i.identifier < ${`${prefix}\u{10FFFF}`})`,
        ]),
    ...fields.map((spellings) => sql`e.fields @> any(${spellings}::jsonb[])`),
  ]
  const { rows } = await sql<{ entity_id: string }>`
    select e.entity_id from record_entities e where ${sql.join(conditions, sql` and `)}
    order by e.entity_id limit ${limit}`.execute(db)
  return rows.map(({ entity_id }) => entity_id)
}

/** Those of the entities, from the first on, whose fields have at most so many bytes together; one at least. */
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
