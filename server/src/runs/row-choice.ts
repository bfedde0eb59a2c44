import { type RawBuilder, sql } from 'kysely'
import type { StatusFilter } from '#contract/rows.ts'
import type { OnlyCells, OnlyRows } from '#contract/runs.ts'
import type { Db } from '../database/connection/db.ts'
import type { Selection, SortKey } from '../database/tables/selection.ts'
import type { SheetKey } from '../database/tables/sheet-key.ts'
import { rowsMeeting } from '../sheets/store/matching-rows.ts'
import { createOrder, rowsInOrder } from '../sheets/store/row-orders.ts'
import { livingRows, rowsByKey, rowsWithIds, deleteAllRows, deleteRows } from '../sheets/store/rows.ts'
import { rowsNeeding, unfinishedRows } from '../sheets/store/unfinished-rows.ts'
import { startsAtFailure } from './store/failure-places.ts'

/** The rows to run: all, some by id, the first few, or those that meet a selection. */
export type RowChoice =
  | { kind: 'all' }
  | { kind: 'ids'; ids: readonly string[] }
  | { kind: 'first'; count: number }
  | { kind: 'matching'; selection: Selection }
  | { kind: 'except'; rows: RowChoice; ids: readonly string[] }
  /** The rows of a stored order, in that order. */
  | { kind: 'ordered'; order: StoredOrder }
  /** The rows that did not come to the end of these actions. */
  | { kind: 'unfinished'; actions: readonly string[] }
  /** The rows whose cell of an action failed, or that have none. */
  | { kind: 'cells'; rows: RowChoice; action: string; only: OnlyCells }

/** An order of rows and the number of its places. */
export type StoredOrder = { order_id: string; total: number }

/** The rows that have a failed or missing cell, each from there on. A skip of an action in `ends` ends a row. */
export type FromFailure = {
  kind: 'from_failure'
  rows: RowChoice
  actions: readonly string[]
  ends: readonly string[]
}
/** The rows of a run, which begin at its first action, or each at its first failed or missing cell. */
export type RunChoice = RowChoice | FromFailure

/** Returns the choice of rows that `only` stands for, in a sheet with these actions (D78). */
export function chooseOnly(only: OnlyRows | null | undefined, actions: readonly string[]): RowChoice {
  if (only === null || only === undefined) return { kind: 'all' }
  if (only === 'unfinished') return { kind: 'unfinished', actions }
  const failed: StatusFilter = { action: 'any', is: ['failed', 'error', 'out_of_credits'] }
  return { kind: 'matching', selection: { filters: [], statusFilters: [failed], createdAt: undefined } }
}

/** Selects the ids and numbers of the rows of a choice, and of `from_failure` how many actions each skips. */
export function chosenRows(sheet: SheetKey, choice: RunChoice): RawBuilder<unknown> {
  const living = allRows(sheet)
  switch (choice.kind) {
    case 'all':
      return living
    case 'ids':
      return sql`select r.row_id, r.seq from ${rowsWithIds(sheet, choice.ids)} where ${livingRows(sheet)}`
    case 'first':
      return sql`${living} order by r.seq limit ${sql.lit(choice.count)}`
    case 'matching':
      return sql`select r.row_id, r.seq ${rowsMeeting(sheet, choice.selection)}`
    case 'except':
      return sql`select r.row_id, r.seq from (${chosenRows(sheet, choice.rows)}) r
        where r.row_id not in (select unnest(${choice.ids}::uuid[]))`
    case 'ordered':
      return sql`select r.row_id, r.seq from ${rowsInOrder(sheet, choice.order)} where ${livingRows(sheet)}`
    case 'unfinished':
      return byKey(sheet, unfinishedRows(sheet, choice.actions))
    case 'cells':
      return needingRows(sheet, choice)
    case 'from_failure': {
      // Most rows of a whole sheet have all their cells, which takes less time to see for many rows at once.
      const { rows, actions } = choice
      const candidates =
        rows.kind === 'all'
          ? byKey(sheet, unfinishedRows(sheet, actions, choice.ends))
          : chosenRows(sheet, rows)
      return startsAtFailure(sheet, candidates, choice)
    }
  }
}

function needingRows(sheet: SheetKey, { rows, action, only }: Extract<RowChoice, { kind: 'cells' }>) {
  const needing = rowsNeeding(sheet, action, only)
  if (rows.kind === 'all') return byKey(sheet, needing)
  return sql`select r.row_id, r.seq from (${chosenRows(sheet, rows)}) r
    where r.row_id in (select row_id from (${needing}) needing offset 0)`
}

const byKey = (sheet: SheetKey, ids: RawBuilder<unknown>) =>
  sql`select r.row_id, r.seq from ${rowsByKey(sheet, ids)} where ${livingRows(sheet)}`

/** Selects the ids and numbers of all rows of a sheet; conditions may follow. */
export const allRows = (sheet: SheetKey) => sql`select r.row_id, r.seq from rows r where ${livingRows(sheet)}`

/** Returns the stored order in which the rows of a run start, if it has one. */
export function orderOfRun(choice: RunChoice): StoredOrder | undefined {
  if (choice.kind === 'ordered') return choice.order
  return choice.kind === 'from_failure' || choice.kind === 'cells' ? orderOfRun(choice.rows) : undefined
}

/** Stores the order of the rows of a choice, in the transaction that runs them. */
export async function sortChoice(
  trx: Db,
  sheet: SheetKey,
  choice: RowChoice,
  sort: readonly SortKey[],
): Promise<RowChoice> {
  const isFirst = choice.kind === 'first'
  const ids = sql`select row_id from (${chosenRows(sheet, isFirst ? { kind: 'all' } : choice)}) chosen`
  const rows = sql`from ${rowsByKey(sheet, ids)} where ${livingRows(sheet)}`
  const { order_id, total } = await createOrder(trx, sheet, {
    rows,
    sort,
    limit: isFirst ? choice.count : undefined,
  })
  return { kind: 'ordered', order: { order_id, total } }
}

/** The number of rows that one statement deletes. */
const PIECE = 5000

/** Deletes the chosen rows within a transaction, and returns their number. */
export async function deleteChosen(trx: Db, sheet: SheetKey, choice: RowChoice): Promise<number> {
  if (choice.kind === 'all') return deleteAllRows(trx, sheet)
  const { rows } = await sql<{
    row_id: string
  }>`select row_id from (${chosenRows(sheet, choice)}) chosen order by seq`.execute(trx)
  const ids = rows.map(({ row_id }) => row_id)
  let deleted = 0
  for (let from = 0; from < ids.length; from += PIECE) {
    deleted += (await deleteRows(trx, sheet, ids.slice(from, from + PIECE))).length
  }
  return deleted
}
