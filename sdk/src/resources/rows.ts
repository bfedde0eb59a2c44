import type { Call } from '../call.ts'
import { LoamError } from '../errors.ts'
import type { CallOptions } from '../options.ts'
import { type PageSource, PageCall, readAhead } from '../pages.ts'
import { path, type SheetRef, sheetPath } from '../paths.ts'
import { Resource, type Warned } from '../resource.ts'
import type {
  AddedRows,
  AddRowsBody,
  CellDetail,
  DeleteAllBody,
  DeletedCount,
  DeletedRows,
  Estimate,
  GroupRowsBody,
  ListRowsBody,
  Row,
  RowDetail,
  RowGroups,
  RowHistory,
  RowHistoryQuery,
  RowPage,
  RowStatistics,
  RowStatisticsBody,
} from '../wire.ts'

/** A row by the names of its inputs. A bigint is stored with all its digits. */
export type RowValues = Record<string, unknown>
export type AddRowsOptions = Omit<AddRowsBody, 'rows'>
export type ListRows = NonNullable<ListRowsBody>

const ROWS_PER_ADD = 1000
const ROWS_PER_DELETE = 200
const ROWS_PER_PAGE = 200

export class RowMethods extends Resource {
  /** Adds up to 1,000 rows. Rows that are refused are in `rejected`. */
  add(
    sheet: SheetRef,
    rows: RowValues[],
    ...[more, options]: [more: AddRowsOptions & { dry_run: true }, options?: CallOptions]
  ): Call<Estimate>
  add(
    sheet: SheetRef,
    rows: RowValues[],
    ...[more, options]: [more?: AddRowsOptions, options?: CallOptions]
  ): Call<Warned<AddedRows>>
  add(
    sheet: SheetRef,
    rows: RowValues[],
    ...[more = {}, options]: [more?: AddRowsOptions, options?: CallOptions]
  ): Call<unknown> {
    const body = { rows, ...more }
    const where = sheetPath(sheet, '/rows')
    return more.dry_run === true
      ? this.call('POST', where, options, { body })
      : this.warned('POST', where, options, { body })
  }

  /**
   * Adds any number of rows, 1,000 at a time. `first_10` runs ten rows of the whole. `max_credits` is for up to 1,000 rows: it
   * limits one request.
   */
  async addAll(
    sheet: SheetRef,
    rows: Iterable<RowValues> | AsyncIterable<RowValues>,
    ...[more = {}, options]: [more?: Omit<AddRowsOptions, 'dry_run'>, options?: CallOptions]
  ): Promise<Warned<AddedRows>> {
    const all: Warned<AddedRows> = {
      row_count: 0,
      row_ids: [],
      rejected: [],
      rows_queued_for_run: 0,
      warnings: [],
    }
    let count = 0
    let sent: RowValues[] | undefined
    const send = async (batch: RowValues[]) => {
      const run_after_add = more.run_after_add === 'first_10' && count > 0 ? 'none' : more.run_after_add
      const fields = run_after_add === undefined ? more : { ...more, run_after_add }
      const added = await this.add(sheet, batch, fields, forRequest(options, (count += 1)))
      all.row_count += added.row_count
      all.row_ids.push(...added.row_ids)
      all.rejected.push(...added.rejected)
      all.rows_queued_for_run += added.rows_queued_for_run
      all.warnings.push(...added.warnings)
    }
    for await (const batch of inBatches(rows, ROWS_PER_ADD)) {
      if (sent !== undefined && more.max_credits !== undefined) throw tooManyForOneLimit()
      if (sent !== undefined) await send(sent)
      sent = batch
    }
    if (sent !== undefined) await send(sent)
    return all
  }

  /** Lists rows. The result is a promise of the first page, and iterates over the rows of all pages. */
  list(sheet: SheetRef, body: ListRows = {}, options?: CallOptions): PageCall<RowPage, Row> {
    return PageCall.first(this.#pages(sheet, body, options))
  }

  /** Iterates over rows in pages of 200, of which one is fetched ahead. */
  stream(
    sheet: SheetRef,
    body: Omit<ListRows, 'page_size'> = {},
    options?: CallOptions,
  ): AsyncGenerator<Row> {
    return readAhead(this.#pages(sheet, { ...body, page_size: ROWS_PER_PAGE }, options))
  }

  #pages(sheet: SheetRef, body: ListRows, options?: CallOptions): PageSource<RowPage, Row> {
    const { page_size } = body
    return {
      fetch: () => this.call<RowPage>('POST', sheetPath(sheet, '/rows/list'), options, { body, reads: true }),
      items: ({ rows }) => rows,
      next: (page) => {
        if (page.rows.length === 0 || page.page_no * page.page_size >= page.total_count) return null
        const page_no = page.page_no + 1
        if (page.order_id === undefined) return this.#pages(sheet, { ...body, page_no }, options)
        const size = page_size === undefined ? {} : { page_size }
        return this.#pages(sheet, { order_id: page.order_id, page_no, ...size }, options)
      },
    }
  }

  /** Returns a row with its cells and neighbours. */
  get(sheet: SheetRef, row_id: string, options?: CallOptions): Call<RowDetail> {
    return this.call('GET', sheetPath(sheet, path`/rows/${row_id}`), options)
  }

  /** Returns what happened to a row, newest first. */
  history(
    sheet: SheetRef,
    row_id: string,
    ...[query, options]: [query?: RowHistoryQuery, options?: CallOptions]
  ): Call<RowHistory> {
    return this.call('GET', sheetPath(sheet, path`/rows/${row_id}/history`), options, { query })
  }

  /** Groups rows by the values of columns, largest groups first. */
  groups(sheet: SheetRef, body: GroupRowsBody, options?: CallOptions): Call<RowGroups> {
    return this.call('POST', sheetPath(sheet, '/rows/groups'), options, { body, reads: true })
  }

  /** Returns statistics of columns. */
  statistics(sheet: SheetRef, body: RowStatisticsBody, options?: CallOptions): Call<RowStatistics> {
    return this.call('POST', sheetPath(sheet, '/rows/statistics'), options, { body, reads: true })
  }

  /** Deletes any number of rows, 200 at a time. Ids without a row are in `rejected`. */
  async delete(
    sheet: SheetRef,
    row_ids: Iterable<string> | AsyncIterable<string>,
    options?: CallOptions,
  ): Promise<DeletedRows> {
    const all: DeletedRows = { deleted_count: 0, deleted_row_ids: [], rejected: [] }
    let count = 0
    for await (const batch of inBatches(row_ids, ROWS_PER_DELETE)) {
      const body = { row_ids: batch }
      const where = sheetPath(sheet, '/rows/delete')
      const deleted = await this.call<DeletedRows>('POST', where, forRequest(options, (count += 1)), { body })
      all.deleted_count += deleted.deleted_count
      all.deleted_row_ids.push(...deleted.deleted_row_ids)
      all.rejected.push(...deleted.rejected)
    }
    return all
  }

  /** Deletes all rows of the sheet, or those of a selector. */
  deleteAll(sheet: SheetRef, body?: DeleteAllBody, options?: CallOptions): Call<DeletedCount> {
    return this.call('POST', sheetPath(sheet, '/rows/delete-all'), options, { body })
  }

  cell(sheet: SheetRef, row_id: string, ...[action, options]: OfCell): Call<CellDetail> {
    return this.call('GET', cellPath(sheet, row_id, action), options)
  }

  /** Returns the outputs of a cell that are too large for a list. */
  cellOutputs(sheet: SheetRef, row_id: string, ...[action, options]: OfCell): Call<unknown> {
    return this.whole('GET', `${cellPath(sheet, row_id, action)}/outputs`, options)
  }

  previousCellOutputs(sheet: SheetRef, row_id: string, ...[action, options]: OfCell): Call<unknown> {
    return this.whole('GET', `${cellPath(sheet, row_id, action)}/outputs/previous`, options)
  }

  /** Gives a cell back the result that it had before a failed run. */
  restoreCell(sheet: SheetRef, row_id: string, ...[action, options]: OfCell): Call<CellDetail> {
    return this.call('POST', `${cellPath(sheet, row_id, action)}/restore`, options, { body: {} })
  }
}

type OfCell = [action_instance_id: string, options?: CallOptions]

const cellPath = (sheet: SheetRef, row_id: string, action: string) =>
  sheetPath(sheet, path`/rows/${row_id}/cells/${action}`)

/** Returns the options for one request of several: each gets a key of its own, the same one when it is repeated. */
function forRequest(options: CallOptions | undefined, count: number): CallOptions | undefined {
  const key = options?.idempotencyKey
  return key === undefined ? options : { ...options, idempotencyKey: `${key}-${count}` }
}

const tooManyForOneLimit = () =>
  new LoamError(
    'max_credits limits one request of at most 1,000 rows, and there are more. Add the rows without running them, then start one run with runs.run and max_credits',
  )

async function* inBatches<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  size: number,
): AsyncGenerator<Item[]> {
  let batch: Item[] = []
  for await (const item of items) {
    batch.push(item)
    if (batch.length < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
