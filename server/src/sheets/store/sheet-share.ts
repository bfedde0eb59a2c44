import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'

/** The rows up to which a sheet is always read by its index, and the share of all rows above which the planner chooses. */
const SMALL = 10_000
const LARGE_SHARE = 0.05

/**
 * Makes the statements of a transaction read a sheet by its index, unless its rows are a large part of all rows of the database: plans
 * are for any sheet, and would read the rows of all organisations for a small one. Returns true if cells are to be looked up by key.
 */
export async function readByIndex(trx: Db, { org_id, sheet_id }: SheetKey): Promise<boolean> {
  const { rows } = await sql<{ is_small: boolean }>`
    select s.rows <= ${sql.lit(SMALL)} or s.rows < ${sql.lit(LARGE_SHARE)} * t.reltuples as is_small
    from (select next_seq - first_seq - deleted as rows from sheet_counters where org_id = ${org_id} and sheet_id = ${sheet_id}) s,
      pg_class t where t.oid = 'rows'::regclass`.execute(trx)
  const isSmall = rows[0]?.is_small ?? true
  if (isSmall) await sql`select set_config('enable_seqscan', 'off', true)`.execute(trx)
  return isSmall
}
