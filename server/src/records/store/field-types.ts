import { sql } from 'kysely'
import type { EntityKind } from '#contract/records.ts'
import type { Db } from '../../database/connection/db.ts'

export type FieldType = { kind: EntityKind; field: string; type: string }

/** Records which fields exist. A field with several types becomes `mixed`. */
export async function addFieldTypes(db: Db, orgId: string, fields: readonly FieldType[]): Promise<void> {
  if (fields.length === 0) return
  // Known fields are left out first: a conflict would lock their row, and concurrent ingests would wait for it.
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
