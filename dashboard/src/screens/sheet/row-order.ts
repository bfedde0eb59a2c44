import { type SheetId, sheetCall } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import type { Sort } from '../../api/selection.ts'
import { type Row, type RowPage, type Selection, selectionBody } from '../../api/sheet.ts'
import { PAGE_ROWS } from './row-pages.ts'

/** The server keeps an order for this long after its last use. */
const KEPT_MS = 10 * 60_000

/**
 * Reads rows in a sorted order, in which every row keeps its place while values change. Rows that were added since the order was
 * made follow at the end.
 */
export class RowOrder {
  readonly #sheet: SheetId
  readonly #selection: Selection
  readonly #sort: Sort
  readonly #ended = new AbortController()
  #begun: Promise<RowPage> | undefined
  #id = ''
  #places = 0
  #added = 0
  #madeAt = ''

  constructor(sheet: SheetId, selection: Selection, sort: Sort) {
    this.#sheet = sheet
    this.#selection = selection
    this.#sort = sort
  }

  /** The number of rows that were added since the order was made. */
  get added(): number {
    return this.#added
  }

  /** Returns a page. `isComplete` is false if one of its rows was deleted. */
  async readPage(page: number, signal: AbortSignal): Promise<RowPage & { isComplete: boolean }> {
    const isFirst = this.#begun === undefined
    this.#begun ??= this.#begin(page)
    const begun = await this.#begun
    const sorted = isFirst ? begun : await this.#readSorted(page, signal)
    const start = page * PAGE_ROWS
    const places = Math.max(0, Math.min(PAGE_ROWS, this.#places - start))
    const added = places < PAGE_ROWS ? await this.#readAdded(start + places, PAGE_ROWS - places) : []
    const total_count = this.#places + this.#added
    return {
      ...sorted,
      rows: [...sorted.rows, ...added],
      total_count,
      isComplete: sorted.rows.length >= places,
    }
  }

  /** Reads rows again by their ids, with the present number of rows. Deleted rows are missing. */
  async readAgain(row_ids: readonly string[]): Promise<{ rows: readonly Row[]; total_count: number }> {
    const list = sheetCall(this.#sheet, 'POST /rows/list', { body: { row_ids, page_size: row_ids.length } })
    const [{ rows }] = await Promise.all([
      row_ids.length === 0 ? { rows: [] } : fetchData(list),
      this.#readAdded(this.#places, 1),
    ])
    return { rows, total_count: this.#places + this.#added }
  }

  stop(): void {
    this.#ended.abort()
  }

  async #begin(page: number): Promise<RowPage> {
    try {
      const body = {
        page_no: page + 1,
        page_size: PAGE_ROWS,
        ...selectionBody(this.#selection),
        sort: this.#sort,
      }
      const first = await fetchData(sheetCall(this.#sheet, 'POST /rows/list', { body }), {
        signal: this.#ended.signal,
      })
      this.#id = first.order_id ?? ''
      this.#places = first.total_count
      this.#madeAt = new Date(Date.parse(first.order_expires_at ?? '') - KEPT_MS).toISOString()
      return first
    } catch (error) {
      // The next read makes the order.
      this.#begun = undefined
      throw error
    }
  }

  #readSorted(page: number, signal: AbortSignal): Promise<RowPage> {
    const body = { order_id: this.#id, page_no: page + 1, page_size: PAGE_ROWS }
    return fetchData(sheetCall(this.#sheet, 'POST /rows/list', { body }), { signal })
  }

  /** Returns rows that were added since the order was made, by their places after it, and counts all of them. */
  async #readAdded(place: number, limit: number): Promise<readonly Row[]> {
    // Only one filter on the time of creation is possible.
    if (this.#selection.created_at !== null) return []
    const body = {
      offset: place - this.#places,
      limit,
      ...selectionBody(this.#selection),
      created_at: { operator: 'greater than' as const, values: [this.#madeAt] },
    }
    const call = sheetCall(this.#sheet, 'POST /internal/rows/window', { body })
    const { rows, total_count } = await fetchData(call, { signal: this.#ended.signal })
    this.#added = total_count
    return rows
  }
}
