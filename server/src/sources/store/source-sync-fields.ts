import { sql } from 'kysely'
import { announcing } from '../../database/connection/changes.ts'
import type { Db } from '../../database/connection/db.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import type { MappedField, SyncKey } from './source-syncs.ts'
import type { SourceKey } from './sources.ts'

/** The number of records that one statement checks. */
const LOOKED_AT = 1000

/**
 * Returns which of the given fields appear in the records changed after a number, for one statement's worth of records.
 * `end` is null after the last record.
 */
export async function findFields(
  db: Db,
  { org_id, instance_id }: SourceKey,
  { fields, after }: { fields: readonly string[]; after: number },
): Promise<{ found: string[]; end: number | null }> {
  const { rows } = await sql<{ found: string[]; end: number | null }>`
    select coalesce(array_agg(distinct k.name) filter (where k.name is not null), '{}') as found, max(r.change_no) as end
    from (
      select change_no, data from source_records
      where org_id = ${org_id} and instance_id = ${instance_id} and change_no > ${after}::bigint
      order by change_no limit ${sql.lit(LOOKED_AT)}
    ) r
    left join lateral (
      select name from json_object_keys(r.data) as name where name = any(${fields}::text[])
    ) k on true`.execute(db)
  return rows[0] ?? { found: [], end: null }
}

export async function changeMapping(
  db: Db,
  { org_id, instance_id, workflow_id }: SyncKey,
  mapping: readonly MappedField[],
): Promise<void> {
  await db
    .updateTable('source_syncs')
    .set({ mapping: JSON.stringify(mapping) })
    .where('org_id', '=', org_id)
    .where('instance_id', '=', instance_id)
    .where('workflow_id', '=', workflow_id)
    .execute()
}

/** Fills empty columns of rows. Returns the rows that got a value. */
export async function fillRowData(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  rows: readonly { row_id: string; data: string }[],
): Promise<string[]> {
  const records = `[${rows.map(({ row_id, data }) => `{"i":"${row_id}","d":${data}}`).join(',')}]`
  const missing = sql`from jsonb_each(t.d) e where coalesce(r.data -> e.key, 'null') = 'null' and e.value <> 'null'`
  const { rows: filled } = await sql<{ row_id: string }>`
    update rows r set data = r.data || (select jsonb_object_agg(e.key, e.value) ${missing})
    from jsonb_to_recordset(${records}::jsonb) as t (i uuid, d jsonb)
    where r.org_id = ${org_id} and r.sheet_id = ${sheet_id} and r.row_id = t.i and exists (select 1 ${missing})
      and r.seq >= (select first_seq from sheet_counters where org_id = ${org_id} and sheet_id = ${sheet_id})
    returning r.row_id, ${announcing(sheet_id)}`.execute(db)
  return filled.map(({ row_id }) => row_id)
}
