import { type RawBuilder, sql } from 'kysely'
import { DatabaseError } from 'pg'
import { type Db, inTransaction } from '../../database/connection/db.ts'
import type { Selection } from '../../database/tables/selection.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { invalid } from '../../lib/errors.ts'
import { listInSlices, type Paging } from './partial-matches.ts'
import { type Condition, conditionsOf, createdWithin } from './row-filters.ts'
import { createOrder, type NewOrder, type RowOrder } from './row-orders.ts'
import { lightValues } from './row-values.ts'
import { allOf, countRows, livingRows, type Page, type PageRow, createPage, rowsByKey } from './rows.ts'
import { joinedStatus, selectBound, selectCauseList, selectStatusList } from './status-filters.ts'

/** The largest number of rows that are looked up one by one, instead of reading the whole sheet. */
const NARROW = 10_000

/** `from` and `where` of the rows `r` of a selection. */
type Rows = RawBuilder<unknown>

/** The rows of a selection, and how to read them. */
type Matching = {
  rows: Rows
  /**
   * Tells whether rows are looked up one by one, so that each is read only once. If not, the rows of a page are the first
   * matches.
   */
  isListed: boolean
  /** Tells whether the rows are joined with a long list, which needs a plan without nested loops. */
  isJoined: boolean
}

/** Lists a page of the rows that match a selection, with the total. */
export async function listMatching(
  db: Db,
  sheet: SheetKey,
  selection: Selection,
  paging: Paging,
): Promise<Page> {
  const { offset, limit } = paging
  const matching = await matchingRows(db, sheet, selection)
  const readsCells = selection.filters.some((filter) => 'action' in filter)
  const isShort = matching.isListed && !matching.isJoined && selection.find === undefined
  if (readsCells && !isShort) return listInSlices(db, sheet, selection, paging)
  const page = matching.isListed ? pageOfList : pageOfSheet
  const statement = page(sheet, matching.rows, offset, limit)
  const rows = await (selection.find === undefined
    ? readMatching(db, matching, statement)
    : findInTime(db, matching, statement))
  const found = await createPage(db, sheet.org_id, rows)
  return readsCells ? { ...found, precision: 'exact' as const, looked_at: await countRows(db, sheet) } : found
}

/** Stores the order of the rows that match a selection. Call it in a transaction. */
export async function sortMatching(
  trx: Db,
  sheet: SheetKey,
  selection: Selection,
  order: Omit<NewOrder, 'rows'>,
): Promise<RowOrder> {
  const { rows, isJoined } = await matchingRows(trx, sheet, selection)
  if (isJoined) await sql`select set_config('enable_nestloop', 'off', true)`.execute(trx)
  return createOrder(trx, sheet, { ...order, rows })
}

/** Runs a statement that selects from the rows of a selection. */
export async function readMatching<Row>(
  db: Db,
  { isJoined }: Pick<Matching, 'isJoined'>,
  statement: RawBuilder<Row>,
): Promise<Row[]> {
  if (!isJoined) return (await statement.execute(db)).rows
  return inTransaction(db, async (trx) => {
    await sql`select set_config('enable_nestloop', 'off', true)`.execute(trx)
    return (await statement.execute(trx)).rows
  })
}

/** Selects a page from the whole sheet: all matches are counted, and read in order up to the end of the page. */
function pageOfSheet(_: SheetKey, rows: Rows, offset: number, limit: number): RawBuilder<PageRow> {
  return sql`
    select matched.total, page.row_id, page.data, page.stored_bytes
    from (select count(*) as total ${rows}) matched
    left join (select r.row_id, ${lightValues}, r.seq ${rows} order by r.seq offset ${sql.lit(offset)} limit ${sql.lit(limit)}) page
      on true
    order by page.seq`
}

/** Selects a page from a list. Each row is read once, for the page and for the total. */
function pageOfList(sheet: SheetKey, rows: Rows, offset: number, limit: number): RawBuilder<PageRow> {
  const ids = sql`select row_id from found order by seq offset ${sql.lit(offset)} limit ${sql.lit(limit)}`
  return sql`
    with found as materialized (select r.row_id, r.seq ${rows}),
    page as (select r.row_id, ${lightValues}, r.seq from ${rowsByKey(sheet, ids)})
    select matched.total, page.row_id, page.data, page.stored_bytes
    from (select count(*) as total from found) matched left join page on true order by page.seq`
}

/** The time limit of a search for a text, which reads all values of the sheet. */
const MAX_FIND_SECONDS = 10
const CANCELLED = '57014'

async function findInTime<Row>(db: Db, matching: Matching, statement: RawBuilder<Row>): Promise<Row[]> {
  try {
    return await inTransaction(db, async (trx) => {
      await sql`select set_config('statement_timeout', ${`${MAX_FIND_SECONDS}s`}, true)`.execute(trx)
      return readMatching(trx, matching, statement)
    })
  } catch (cause) {
    if (!(cause instanceof DatabaseError) || cause.code !== CANCELLED) throw cause
    throw invalid(
      'find',
      `the search took more than ${MAX_FIND_SECONDS} seconds; reduce the rows by a filter first`,
    )
  }
}

/**
 * Decides how to find the rows of a selection. Short lists are counted first, because PostgreSQL cannot tell them from long
 * ones: its plans are for any range of time and for any sheet.
 */
export async function matchingRows(db: Db, sheet: SheetKey, selection: Selection): Promise<Matching> {
  const { createdAt } = selection
  if (createdAt !== undefined) {
    const inRange = sql`select r.* from rows r where r.org_id = ${sheet.org_id} and ${createdWithin(createdAt)}`
    if (await isShort(db, inRange))
      return {
        rows: selectMatches(sheet, sql`(${inRange} offset 0) r`, selection),
        isListed: true,
        isJoined: false,
      }
  }
  const listed = findListed(sheet, selection)
  if (listed === undefined)
    // A text is found in few rows, and each row that is searched has a cost.
    return { rows: rowsMeeting(sheet, selection), isListed: selection.find !== undefined, isJoined: false }
  const { list, bound, isIncluded, others } = listed
  if (!(await isShort(db, bound))) {
    const rows = selectMatches(sheet, sql`rows r`, others, [joinedStatus(list, isIncluded)])
    return { rows, isListed: true, isJoined: true }
  }
  return { rows: rowsMeeting(sheet, selection), isListed: isIncluded, isJoined: false }
}

async function isShort(db: Db, list: RawBuilder<unknown>): Promise<boolean> {
  const { rows } = await sql<{ count: number }>`
    select count(*) from (select from (${list}) listed limit ${sql.lit(NARROW + 1)}) few`.execute(db)
  return (rows[0]?.count ?? 0) <= NARROW
}

/**
 * Selects the matching rows: from the rows with a listed status if the selection asks for one, or else from the whole sheet.
 */
export function rowsMeeting(sheet: SheetKey, selection: Selection): Rows {
  const listed = findListed(sheet, selection)
  if (listed?.isIncluded !== true) return selectMatches(sheet, sql`rows r`, selection)
  const ids = sql`select distinct row_id from (${listed.list}) listed order by row_id`
  return selectMatches(sheet, rowsByKey(sheet, ids), listed.others)
}

type Listed = {
  list: RawBuilder<unknown>
  /** A list that includes all of these rows and is quick to count. */
  bound: RawBuilder<unknown>
  /** Tells whether the listed rows are wanted, not all others. */
  isIncluded: boolean
  others: Selection
}

/**
 * Finds the cause, or else the first filter by statuses that can be listed. A filter that includes them comes before one
 * that excludes them.
 */
function findListed(sheet: SheetKey, selection: Selection): Listed | undefined {
  const { statusFilters, cause } = selection
  if (cause !== undefined) {
    const list = selectCauseList(sheet, cause)
    return { list, bound: list, isIncluded: true, others: { ...selection, cause: undefined } }
  }
  for (const filter of statusFilters.toSorted(
    (a, b) => Number(a.is === undefined) - Number(b.is === undefined),
  )) {
    const list = selectStatusList(sheet, filter)
    const others = { ...selection, statusFilters: statusFilters.filter((one) => one !== filter) }
    if (list !== undefined)
      return { list, bound: selectBound(sheet, filter) ?? list, isIncluded: filter.is !== undefined, others }
  }
  return undefined
}

function selectMatches(
  sheet: SheetKey,
  rows: RawBuilder<unknown>,
  selection: Selection,
  also: readonly Condition[] = [],
): Rows {
  return sql`from ${rows} where ${allOf([livingRows(sheet), ...also, ...conditionsOf(sheet, selection)])}`
}
