import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'

/** Rows that take more in the database are not read: compressed, their values may be a hundred times as long. */
const MAX_ROW_BYTES = sql.lit(8000)
const MAX_CHARACTERS = sql.lit(300)

/** Returns the beginnings of the values of each column, by column number, in the first rows of a sheet. */
export async function sampleColumns(
  db: Db,
  { org_id, sheet_id }: SheetKey,
): Promise<ReadonlyMap<number, readonly string[]>> {
  const { rows } = await sql<{ column: number; samples: string[] }>`
    with first_rows as (
      select r.seq, r.data from rows r
      where r.org_id = ${org_id} and r.sheet_id = ${sheet_id}
        and r.seq >= (select first_seq from sheet_counters where org_id = ${org_id} and sheet_id = ${sheet_id})
      order by r.seq limit 50
    )
    select e.key::int as column, array_agg(left(e.value #>> '{}', ${MAX_CHARACTERS}) order by r.seq) as samples
    from first_rows r, jsonb_each(r.data) as e (key, value)
    where pg_column_size(r.data) <= ${MAX_ROW_BYTES} and e.value #>> '{}' <> ''
    group by 1`.execute(db)
  return new Map(rows.map(({ column, samples }) => [column, samples]))
}
