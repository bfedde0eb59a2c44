import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { Selection } from '../../database/tables/selection.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { isFailed } from '../../runs/store/failed-cells.ts'
import { matchingRows, readMatching } from './matching-rows.ts'
import { cellHolds, conditionsOf, rowHolds } from './row-filters.ts'
import { allOf, BLOCK, livingRows } from './rows.ts'

/** Returns the number of rows before a row; null if it is not on the sheet. */
export async function findRowPlace(db: Db, sheet: SheetKey, rowId: string): Promise<number | null> {
  const { org_id, sheet_id } = sheet
  const { rows } = await sql<{ place: number }>`
    with target as (
      select r.seq, s.first_seq, greatest(r.seq / ${BLOCK} * ${BLOCK}, s.first_seq) as start
      from rows r join sheet_counters s on s.org_id = r.org_id and s.sheet_id = r.sheet_id
      where r.org_id = ${org_id} and r.sheet_id = ${sheet_id} and r.row_id = ${rowId} and r.seq >= s.first_seq
    )
    select (t.start - t.first_seq - (
        select coalesce(sum(g.deleted), 0) from row_gaps g
        where g.org_id = ${org_id} and g.sheet_id = ${sheet_id}
          and g.block < t.seq / ${BLOCK} and (g.block + 1) * ${BLOCK} > t.first_seq
      ) + (
        select count(*) from rows r
        where r.org_id = ${org_id} and r.sheet_id = ${sheet_id} and r.seq >= t.start and r.seq < t.seq
      ))::bigint as place
    from target t`.execute(db)
  return rows[0]?.place ?? null
}

/** Returns the number of matching rows before a row; null if it does not match the selection. */
export async function findMatchingPlace(
  db: Db,
  sheet: SheetKey,
  selection: Selection,
  rowId: string,
): Promise<number | null> {
  const matching = await matchingRows(db, sheet, selection)
  const statement = sql<{ place: number; is_there: boolean }>`
    select count(*) filter (where found.seq < t.seq) as place, coalesce(bool_or(found.seq = t.seq), false) as is_there
    from (select seq from rows where org_id = ${sheet.org_id} and row_id = ${rowId} and sheet_id = ${sheet.sheet_id}) t
    join (select r.seq ${matching.rows}) found on found.seq <= t.seq`
  const rows = await readMatching(db, matching, statement)
  const found = rows[0]
  return found?.is_there === true ? found.place : null
}

type FailedSearch = {
  actions: readonly string[]
  after: { row_id: string; action?: string | undefined } | undefined
}
type FailedCell = { row_id: string; action: string }

/**
 * Finds the next failed cell, with `actions` in their order. Each step reads the index of failed cells, however many rows
 * there are.
 */
export async function findNextFailed(
  db: Db,
  sheet: SheetKey,
  selection: Selection,
  { actions, after }: FailedSearch,
): Promise<FailedCell | null> {
  const { org_id, sheet_id } = sheet
  const failed = sql`c.org_id = ${org_id} and c.sheet_id = ${sheet_id}
    and ${isFailed} and c.action = any(${actions}::text[])`
  const listFailed = async (rowId: string): Promise<string[]> => {
    const { rows } = await sql<{ action: string }>`
      select c.action from cells c where ${failed} and c.row_id = ${rowId}`.execute(db)
    const known = new Set(rows.map(({ action }) => action))
    return actions.filter((action) => known.has(action))
  }
  const firstRow = async (behind: string | undefined): Promise<string | undefined> => {
    const { rows } = await sql<{ row_id: string }>`
      select c.row_id from cells c
      where ${failed} ${behind === undefined ? sql`` : sql`and c.row_id > ${behind}`}
        and exists (select from (select * from rows where org_id = ${org_id} and row_id = c.row_id offset 0) r
          where ${allOf([livingRows(sheet), ...conditionsOf(sheet, selection)])})
      order by c.row_id limit 1`.execute(db)
    return rows[0]?.row_id
  }
  if (after !== undefined) {
    const rest = after.action === undefined ? actions : actions.slice(actions.indexOf(after.action) + 1)
    const action = (await listFailed(after.row_id)).find((one) => rest.includes(one))
    if (action !== undefined) return { row_id: after.row_id, action }
  }
  const row_id =
    (await firstRow(after?.row_id)) ?? (after === undefined ? undefined : await firstRow(undefined))
  const action = row_id === undefined ? undefined : (await listFailed(row_id))[0]
  return row_id === undefined || action === undefined ? null : { row_id, action }
}

/** The row numbers that one statement searches: as many as finish soon, because values may be large. */
const FIRST_SLICE = 2000
const MAX_SLICE = 64_000
const SOON_MS = 150
const MAX_ANSWER_MS = 800
const MAX_FOUND = 5000

export type Found = { row_ids: string[]; looked_at: number; rows: number; next: number | null }

/**
 * Finds rows that contain the text and match the selection, from the number `from` on, for as long as a person accepts to
 * wait for a first result.
 */
export async function findRows(
  db: Db,
  sheet: SheetKey,
  selection: Selection,
  { text, from }: { text: string; from: number | undefined },
): Promise<Found> {
  const { rows: counters } = await sql<{ first_seq: number; next_seq: number; total: number }>`
    select first_seq, next_seq, next_seq - first_seq - deleted as total from sheet_counters
    where org_id = ${sheet.org_id} and sheet_id = ${sheet.sheet_id}`.execute(db)
  const { first_seq = 0, next_seq = 0, total = 0 } = counters[0] ?? {}
  const began = performance.now()
  const row_ids: string[] = []
  let at = Math.max(first_seq, from ?? first_seq)
  let size = FIRST_SLICE
  while (at < next_seq && row_ids.length < MAX_FOUND && performance.now() - began < MAX_ANSWER_MS) {
    const sliceBegan = performance.now()
    const found = await findInSlice(db, sheet, selection, { text, from: at, to: at + size })
    row_ids.push(...found.map(({ row_id }) => row_id))
    const isFull = found.length === MAX_FOUND
    at = isFull ? (found.at(-1)?.seq ?? at) + 1 : at + size
    if (performance.now() - sliceBegan < SOON_MS) size = Math.min(MAX_SLICE, size * 2)
  }
  const isOver = at >= next_seq
  const looked_at = isOver ? total : Math.min(total, at - first_seq)
  return { row_ids, looked_at, rows: total, next: isOver ? null : at }
}

/**
 * Searches a range of rows. Cells are read by the range of their rows; they are stored in that order, which makes it fast.
 */
async function findInSlice(
  db: Db,
  sheet: SheetKey,
  selection: Selection,
  { text, from, to }: { text: string; from: number; to: number },
): Promise<{ row_id: string; seq: number }[]> {
  const { org_id } = sheet
  const inSlice = sql`${livingRows(sheet)} and r.seq >= ${from} and r.seq < ${to}`
  const { rows } = await sql<{ row_id: string; seq: number }>`
    with slice as materialized (select r.row_id, r.seq, ${rowHolds(text)} as holds from rows r where ${inSlice}),
    found as (
      select row_id from slice where holds
      union
      select c.row_id from cells c
      where c.org_id = ${org_id} and c.row_id >= (select row_id from slice order by row_id limit 1)
        and c.row_id <= (select row_id from slice order by row_id desc limit 1) and ${cellHolds(text)}
    )
    select r.row_id, r.seq from rows r
    where r.row_id in (select row_id from found) and ${inSlice}
      and ${allOf(conditionsOf(sheet, { ...selection, find: undefined }))}
    order by r.seq limit ${sql.lit(MAX_FOUND)}`.execute(db)
  return rows
}
