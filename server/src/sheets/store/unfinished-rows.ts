import { type RawBuilder, sql } from 'kysely'
import type { OnlyCells } from '#contract/runs.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { isFailed } from '../../runs/store/failed-cells.ts'

/**
 * The number of rows that are checked together. Blocks in which every row has all its cells, which are most blocks, are only
 * counted.
 */
const BLOCK = 256

/**
 * Selects the ids of rows with fewer cells than actions, and not among `others`: a condition on the cells `c` of a row. It
 * works by blocks, since a check of each row of a large sheet would take several times as long: complete blocks need only the
 * primary key of cells.
 */
function rowsLacking(
  { org_id, sheet_id }: SheetKey,
  actions: readonly string[],
  others: RawBuilder<unknown> = sql`false`,
): RawBuilder<unknown> {
  const ofActions = sql`c.org_id = ${org_id} and c.action = any(${actions}::text[])`
  return sql`
    select behind.row_id
    from sheet_counters s, generate_series(s.first_seq / ${sql.lit(BLOCK)}, s.next_seq / ${sql.lit(BLOCK)}) as n,
    lateral (
      select array_agg(r.row_id) as ids from rows r
      where r.org_id = ${org_id} and r.sheet_id = ${sheet_id}
        and r.seq >= n * ${sql.lit(BLOCK)} and r.seq < (n + 1) * ${sql.lit(BLOCK)} offset 0
    ) block,
    lateral (
      select case when count(*) < cardinality(block.ids) * ${actions.length}::int then block.ids end as ids
      from cells c where ${ofActions} and c.row_id = any(block.ids) offset 0
    ) lacking,
    lateral (
      select unnest(lacking.ids) as row_id
      except select c.row_id from cells c where ${ofActions} and c.row_id = any(lacking.ids)
      group by c.row_id having count(*) = ${actions.length}::int or ${others} offset 0
    ) behind
    where s.org_id = ${org_id} and s.sheet_id = ${sheet_id}`
}

/**
 * Selects the ids of unfinished rows: those with a failure, with fewer results than actions and no condition that could have
 * ended them, with a former result for lack of credits (D78, D84), or stopped (D92). The few failed rows are found by their
 * index. Conditions of all actions can end a row, or those of `ends`.
 */
export function unfinishedRows(
  sheet: SheetKey,
  actions: readonly string[],
  ends: readonly string[] = actions,
): RawBuilder<unknown> {
  const { org_id, sheet_id } = sheet
  const ofActions = sql`c.org_id = ${org_id} and c.action = any(${actions}::text[])`
  const wasEnded = sql`bool_or((c.status = 'condition_not_met' or c.kept->>'because' = 'condition_not_met')
    and c.action = any(${ends}::text[]))`
  return sql`
    ${rowsLacking(sheet, actions, wasEnded)}
    union
    select c.row_id from cells c where ${ofActions} and c.sheet_id = ${sheet_id} and ${isFailed}
    union
    select c.row_id from cells c where ${ofActions} and c.sheet_id = ${sheet_id} and c.kept is not null
      and c.kept->>'because' <> 'condition_not_met'
    union
    select row_id from stopped_rows where org_id = ${org_id} and sheet_id = ${sheet_id}`
}

/** Selects the ids of the rows without a cell of the action, or in which it failed (H10). */
export function rowsNeeding(sheet: SheetKey, action: string, only: OnlyCells): RawBuilder<unknown> {
  const { org_id, sheet_id } = sheet
  const failed = sql`select c.row_id from cells c
    where c.org_id = ${org_id} and c.sheet_id = ${sheet_id} and c.action = ${action} and ${isFailed}`
  if (only === 'failed') return failed
  const empty = rowsLacking(sheet, [action])
  return only === 'empty' ? empty : sql`${empty} union ${failed}`
}
