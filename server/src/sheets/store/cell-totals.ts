import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'

/**
 * The largest number of rows whose cells are all counted. Of more rows, some are counted, spread evenly: a progress bar shows
 * no more.
 */
const MAX_COUNTED = 20_000
const SAMPLED = sql.lit(1000)
const FAILED = ['failed', 'error', 'out_of_credits']

export type ColumnTotals = {
  rows: number
  settled: Record<string, number>
  failed: Record<string, number>
  is_sampled: boolean
}

/**
 * Counts the rows of a sheet, and the rows that have a result of each action, or a failure. It is one statement of the same cost for any
 * sheet.
 */
export async function countSettled(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  actions: readonly string[],
): Promise<ColumnTotals> {
  const { rows } = await sql<Counted>`
    with sheet as (
      select first_seq, next_seq, next_seq - first_seq - deleted as total,
        next_seq - first_seq - deleted > ${MAX_COUNTED} as is_large
      from sheet_counters where org_id = ${org_id} and sheet_id = ${sheet_id}
    ), wanted as (
      select first_seq + floor(n * (next_seq - first_seq)::numeric / ${SAMPLED})::bigint as seq
      from sheet, generate_series(0, ${SAMPLED} - 1) as n where is_large
    ), looked as materialized (
      select r.row_id from sheet, rows r where not is_large
        and r.org_id = ${org_id} and r.sheet_id = ${sheet_id} and r.seq >= first_seq
      union all
      select r.row_id from rows r where r.org_id = ${org_id} and r.sheet_id = ${sheet_id}
        and r.seq = any(array(select seq from wanted))
    ), counted as (
      select c.action, count(*) as cells, count(*) filter (where c.status = any(${FAILED})) as failed from cells c
      where c.org_id = ${org_id} and c.row_id = any(array(select row_id from looked))
        and c.action = any(${actions}::text[])
      group by c.action
    )
    select total, (select count(*) from looked) as looked, action, coalesce(cells, 0) as cells,
      coalesce(failed, 0) as failed
    from sheet left join counted on true`.execute(db)
  const { total = 0, looked = 0 } = rows[0] ?? {}
  const is_sampled = total > MAX_COUNTED
  const counted = new Map(rows.map((row) => [row.action, row]))
  const estimate = (cells: number) =>
    is_sampled && looked > 0 ? Math.floor((cells / looked) * total) : cells
  const countsOf = (part: 'cells' | 'failed') =>
    Object.fromEntries(actions.map((action) => [action, estimate(counted.get(action)?.[part] ?? 0)]))
  return { rows: total, settled: countsOf('cells'), failed: countsOf('failed'), is_sampled }
}

type Counted = { total: number; looked: number; action: string | null; cells: number; failed: number }
