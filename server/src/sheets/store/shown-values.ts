import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { ValueSource } from '../../database/tables/selection.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { MAX_INLINE_BYTES } from './cells.ts'
import { valueJson } from './row-columns.ts'
import { rowsWithIds } from './rows.ts'

/** Reads values of rows as JSON texts, by row, in the order of the sources. A value that is missing or too large is null. */
export async function readShownValues(
  db: Db,
  sheet: SheetKey,
  ids: readonly string[],
  sources: readonly ValueSource[],
): Promise<Map<string, (string | null)[]>> {
  if (ids.length === 0 || sources.length === 0) return new Map()
  const values = sources.map(
    (
      source,
    ) => sql`(select case when pg_column_size(v.json) <= ${sql.lit(MAX_INLINE_BYTES)} then v.json::text end
      from (select ${valueJson(source)} as json offset 0) v)`,
  )
  const { rows } = await sql<{ row_id: string; texts: (string | null)[] }>`
    select r.row_id, array[${sql.join(values)}] as texts from ${rowsWithIds(sheet, ids)}`.execute(db)
  return new Map(rows.map(({ row_id, texts }) => [row_id, texts]))
}
