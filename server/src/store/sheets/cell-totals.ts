import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import type { SheetKey } from './sheet-key.ts'

/** Rows that are looked at together: their cells are then counted from the primary key alone. */
const BLOCK = sql.lit(256)

/** How many rows have a result of each action. One statement, which goes through the sheet once. */
export async function countSettled(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  actions: readonly string[],
): Promise<Record<string, number>> {
  if (actions.length === 0) return {}
  const { rows } = await sql<{ action: string; settled: number }>`
    select counted.action, sum(counted.cells)::bigint as settled
    from sheet_counters s, generate_series(s.first_seq / ${BLOCK}, s.next_seq / ${BLOCK}) as n,
    lateral (
      select array_agg(r.row_id) as ids from rows r
      where r.org_id = ${org_id} and r.sheet_id = ${sheet_id} and r.seq >= s.first_seq
        and r.seq >= n * ${BLOCK} and r.seq < (n + 1) * ${BLOCK} offset 0
    ) block,
    lateral (
      select c.action, count(*) as cells from cells c
      where c.org_id = ${org_id} and c.row_id = any(block.ids) and c.action = any(${actions}::text[])
      group by c.action offset 0
    ) counted
    where s.org_id = ${org_id} and s.sheet_id = ${sheet_id}
    group by counted.action`.execute(db)
  const found = new Map(rows.map(({ action, settled }) => [action, settled]))
  return Object.fromEntries(actions.map((action) => [action, found.get(action) ?? 0]))
}
