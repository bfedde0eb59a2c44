import { sql } from 'kysely'
import { type Db, inTransaction } from '../../database/connection/db.ts'
import type { OutputSource, Selection } from '../../database/tables/selection.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { conditionsOf } from './row-filters.ts'
import { lightValues, type LightRow, readLargeValues } from './row-values.ts'
import { allOf, livingRows, type Page, rowsWithIds } from './rows.ts'
import { valueCondition } from './value-filters.ts'

/** The rows of a sheet of which all are looked at, however long it takes. */
const EXACT_ROWS = 100_000
/** The time after which a full page is sent. */
const FULL_PAGE_MS = 2000
/** The times after which the first page, and any other, is sent with what has been found. */
const FIRST_PAGE_MS = 2700
const ANY_PAGE_MS = 10_000
/** The row numbers that one statement looks at: as many as finish soon, so that a reader who left is soon noticed. */
const FIRST_SLICE = 4000
const MAX_SLICE = 64_000
const SOON_MS = 150

export type Paging = { offset: number; limit: number; signal?: AbortSignal | undefined }

/**
 * Lists a page of matching rows by looking at the sheet slice by slice, in the order of rows. Values in cells have no index, so in a
 * long sheet this ends when the page is full and some time has passed. The total is then that of the rows that were looked at.
 */
export async function listInSlices(
  db: Db,
  sheet: SheetKey,
  selection: Selection,
  paging: Paging,
): Promise<Page> {
  const { ids, ...found } = await inTransaction(db, async (trx) => {
    await sql`select set_config('enable_nestloop', 'off', true)`.execute(trx)
    return lookThrough(trx, sheet, selection, paging)
  })
  return { rows: await readRows(db, sheet, ids), ...found }
}

async function lookThrough(
  db: Db,
  sheet: SheetKey,
  selection: Selection,
  { offset, limit, signal }: Paging,
): Promise<Omit<Page, 'rows'> & { ids: string[] }> {
  const { first, next, rows } = await readBounds(db, sheet)
  const began = performance.now()
  const most = offset === 0 ? FIRST_PAGE_MS : ANY_PAGE_MS
  const ids: string[] = []
  let [at, size, total] = [first, FIRST_SLICE, 0]
  const isOver = () => {
    if (at >= next) return true
    const time = performance.now() - began
    return rows > EXACT_ROWS && time > (total >= offset + limit ? FULL_PAGE_MS : most)
  }
  while (!isOver()) {
    signal?.throwIfAborted()
    const sliceBegan = performance.now()
    const window = { skip: Math.max(0, offset - total), take: limit - ids.length }
    const found = await findInSlice(db, sheet, selection, { from: at, to: at + size, ...window })
    ids.push(...found.row_ids)
    total += found.count
    at += size
    if (performance.now() - sliceBegan < SOON_MS) size = Math.min(MAX_SLICE, size * 2)
  }
  const isExact = at >= next
  const looked_at = isExact ? rows : Math.min(rows, at - first)
  return { ids, total, precision: isExact ? 'exact' : 'partial', looked_at }
}

async function readBounds(db: Db, { org_id, sheet_id }: SheetKey) {
  const { rows } = await sql<{ first: number; next: number; rows: number }>`
    select first_seq as first, next_seq as next, next_seq - first_seq - deleted as rows from sheet_counters
    where org_id = ${org_id} and sheet_id = ${sheet_id}`.execute(db)
  return rows[0] ?? { first: 0, next: 0, rows: 0 }
}

type Slice = { from: number; to: number; skip: number; take: number }

/**
 * Finds the matching rows of a slice. The cells of an action are read by the range of the rows, in whose order they are stored, and
 * joined by a hash: that takes half the time of looking each up. Call it where nested loops are disabled.
 */
async function findInSlice(
  db: Db,
  sheet: SheetKey,
  selection: Selection,
  { from, to, skip, take }: Slice,
): Promise<{ count: number; row_ids: string[] }> {
  const filters = selection.filters.filter((filter) => 'action' in filter)
  const others = { ...selection, filters: selection.filters.filter((filter) => !('action' in filter)) }
  const actions = [...new Set(filters.map(({ action }) => action))]
  const cells = actions.map((_, n) => sql.ref(`c${n}`))
  const parts = actions.map(
    (action, n) => sql`, ${cells[n]} as materialized (
      select c.row_id, c.outputs from cells c where c.org_id = ${sheet.org_id} and c.action = ${action} and c.status = 'complete'
        and c.row_id >= (select row_id from slice order by row_id limit 1)
        and c.row_id <= (select row_id from slice order by row_id desc limit 1))`,
  )
  const joins = cells.map((cell) => sql` left join ${cell} on ${cell}.row_id = r.row_id`)
  const readOutput = ({ action, output }: OutputSource) =>
    sql`(${sql.ref(`c${actions.indexOf(action)}.outputs`)} -> ${output})`
  const conditions = filters.map((filter) => valueCondition(filter, readOutput))
  const { rows } = await sql<{ count: number; row_ids: string[] }>`
    with slice as materialized (
      select r.row_id, r.seq from rows r
      where ${livingRows(sheet)} and r.seq >= ${from} and r.seq < ${to} and ${allOf(conditionsOf(sheet, others))}
    )${sql.join(parts, sql``)}, found as materialized (
      select r.row_id, r.seq from slice r${sql.join(joins, sql``)} where ${allOf(conditions)}
    )
    select (select count(*) from found) as count,
      array(select row_id from found order by seq offset ${sql.lit(skip)} limit ${sql.lit(take)}) as row_ids`.execute(
    db,
  )
  return rows[0] ?? { count: 0, row_ids: [] }
}

async function readRows(db: Db, sheet: SheetKey, ids: readonly string[]): Promise<Page['rows']> {
  if (ids.length === 0) return []
  const { rows } = await sql<LightRow>`
    select r.row_id, ${lightValues} from ${rowsWithIds(sheet, ids)} where ${livingRows(sheet)} order by r.seq`.execute(
    db,
  )
  return readLargeValues(db, sheet.org_id, rows)
}
