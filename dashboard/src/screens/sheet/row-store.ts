import { sheetCall, type SheetId } from '../../api/calls.ts'
import { ApiError, fetchData } from '../../api/client.ts'
import { isUnavailable } from '../../api/outbox.ts'
import type { Sort } from '../../api/selection.ts'
import { type Row, type RowPage, type Selection, selectionBody } from '../../api/sheet.ts'
import { RowListeners } from './row-listeners.ts'
import { RowOrder } from './row-order.ts'
import { PAGE_ROWS, RowPages } from './row-pages.ts'
import { TextSearch } from './text-search.ts'

/** The distance, in rows, at which the next page is loaded ahead of scrolling. */
const AHEAD_ROWS = 60
/** The maximum number of rows in one window request. */
const MAX_WINDOW = 200

/** The pause after each read, as a multiple of its duration: reading takes at most a quarter of the time, because filtered rows may be slow. */
const REST_PER_READ = 3
const MIN_REST_MS = 50
/** The minimum pause while the view scrolls: frames are short of time then, and rows pass before they are read. */
const MIN_REST_MOVING_MS = 200
const MAX_REST_MS = 30_000
/** The time after the last movement during which the view counts as scrolling. */
const MOVING_MS = 200

/** The retry interval while the server is unreachable. */
const RETRY_MS = 1500

/** Holds the rows of a sheet near the view. A component that shows a row subscribes to that row only. */
export class RowStore {
  readonly #sheet: SheetId
  #selection: Selection
  #sort: Sort
  /** The sorted order; null while rows are in the order of insertion. */
  #order: RowOrder | null
  readonly #pages = new RowPages()
  #loading = new Map<number, AbortController>()
  #listeners = new RowListeners(() => this.#isMoving())
  #countListeners = new Set<() => void>()
  #view = { from: 0, to: 0 }
  #movedAt = 0
  #total: number | null = null
  #isSelecting = false
  /** The running text search; null if there is no search text, or if the sheet is small enough for one response. */
  #searching: Promise<TextSearch | null> | undefined
  #search: TextSearch | null = null
  #problem: unknown = null
  #reading: Promise<void> | null = null
  #next: Promise<void> | null = null
  #timer: ReturnType<typeof setTimeout> | undefined
  #readAt = 0
  /** The earliest time of the next read of live changes. */
  #restsUntil = 0

  constructor(sheet: SheetId, selection: Selection, sort: Sort = []) {
    this.#sheet = sheet
    this.#selection = selection
    this.#sort = sort
    this.#order = this.#makeOrder()
  }

  get total(): number | null {
    return this.#total
  }

  /** The number of rows that match the selection; null until the server has counted them. */
  get count(): number | null {
    return this.#isSelecting ? null : this.#total
  }

  get problem(): unknown {
    return this.#problem
  }

  get selection(): Selection {
    return this.#selection
  }

  get sort(): Sort {
    return this.#sort
  }

  /** The number of rows at the end that were added since the rows were sorted. */
  get unsorted(): number {
    return this.#order?.added ?? 0
  }

  row(index: number): Row | undefined {
    return this.#pages.row(index)
  }

  indexOf(rowId: string): number | null {
    return this.#pages.indexOf(rowId)
  }

  subscribeRow(index: number, listener: () => void): () => void {
    return this.#listeners.add(index, listener)
  }

  subscribeCount(listener: () => void): () => void {
    this.#countListeners.add(listener)
    return () => this.#countListeners.delete(listener)
  }

  /** The progress of the text search; null if the whole sheet was searched at once. */
  get search(): TextSearch | null {
    return this.#search
  }

  /** Changes the selection of rows and their order. The shown rows stay until the new ones are loaded. */
  select(selection: Selection, sort: Sort = []): void {
    this.#selection = selection
    this.#sort = sort
    this.#order?.stop()
    this.#order = this.#makeOrder()
    this.#stopLoading()
    this.#stopSearch()
    this.#pages.markStale()
    this.#isSelecting = true
    this.#notifyCount()
    this.#reading = null
    void this.refresh()
  }

  /** Gives sorted rows their places by their present values. */
  sortAgain(): void {
    if (this.#order !== null) this.select(this.#selection, this.#sort)
  }

  /** Sets the rows from..to that are in view. Loads the missing ones and, while scrolling, the page ahead. */
  show(from: number, to: number): void {
    const moved = from - this.#view.from
    if (moved !== 0) this.#movedAt = performance.now()
    this.#view = { from, to }
    for (const page of this.#viewPages()) this.#loadUnlessKnown(page)
    if (moved === 0 || Math.abs(moved) > MAX_WINDOW) return
    const ahead = Math.floor((moved > 0 ? to + AHEAD_ROWS : from - AHEAD_ROWS) / PAGE_ROWS)
    if (ahead >= 0 && ahead * PAGE_ROWS < (this.#total ?? 0)) this.#loadUnlessKnown(ahead)
  }

  /** Rereads the rows in view, and marks the others to be reread when they come into view. A read in progress may be too old, so another one follows it. */
  refresh(): Promise<void> {
    if (this.#reading === null) return this.#read()
    this.#next ??= this.#reading.then(() => {
      this.#next = null
      return this.#read()
    })
    return this.#next
  }

  /** Rereads the rows in view after a pause, because something has changed. */
  refreshSoon(): void {
    if (this.#timer !== undefined || this.#next !== null) return
    const rested = Math.max(this.#restsUntil, this.#isMoving() ? this.#readAt + MIN_REST_MOVING_MS : 0)
    const wait = Math.max(0, rested - performance.now())
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      void this.refresh()
    }, wait)
  }

  /** Shows values before the server has saved them. Call the returned function when they are saved or rejected. */
  showTyped(edits: readonly { row_id: string; inputs: Record<string, unknown> }[]): () => void {
    for (const index of this.#pages.type(edits)) this.#listeners.notify(index)
    return () => this.#pages.release(edits)
  }

  /** Returns all rows from..to, including those that are not in view. */
  async range(from: number, to: number): Promise<Row[]> {
    const first = Math.floor(from / PAGE_ROWS)
    const last = Math.floor(to / PAGE_ROWS)
    const rows: Row[] = []
    for (let page = first; page <= last; page += 1) {
      if (!this.#pages.isFresh(page)) await this.#load(page)
      // The rows are taken at once, because a page far from the view may soon be dropped.
      rows.push(...this.#pages.slice(page, from, to))
    }
    return rows
  }

  /** Returns the index of a row among the selected rows, or null if it is not among them. */
  async locate(rowId: string): Promise<number | null> {
    const near = this.indexOf(rowId)
    // The server knows the places in the order of insertion only.
    if (near !== null || this.#order !== null) return near
    const search = await this.#getSearch()
    if (search !== null) return search.ids.includes(rowId) ? search.ids.indexOf(rowId) : null
    const { find: _, ...body } = { find: '', ...selectionBody(this.#selection) }
    const call = sheetCall(this.#sheet, 'POST /internal/rows/place', { body: { row_id: rowId, ...body } })
    return (await fetchData(call)).place
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#stopLoading()
    this.#stopSearch()
    this.#order?.stop()
    this.#listeners.clear()
    this.#countListeners.clear()
  }

  #viewPages(): number[] {
    const first = Math.floor(this.#view.from / PAGE_ROWS)
    const last = Math.floor(Math.max(this.#view.from, this.#view.to - 1) / PAGE_ROWS)
    return Array.from({ length: last - first + 1 }, (_, at) => first + at)
  }

  #read(): Promise<void> {
    const began = performance.now()
    this.#readAt = began
    const reading = this.#readView().finally(() => {
      const took = performance.now() - began
      const rest = Math.min(MAX_REST_MS, Math.max(MIN_REST_MS, took * REST_PER_READ))
      this.#restsUntil = performance.now() + rest
      if (this.#reading === reading) this.#reading = null
    })
    this.#reading = reading
    return reading
  }

  /** Rereads only the rows in view, or whole pages if rows were added, deleted or moved. */
  async #readView(): Promise<void> {
    const inView = this.#viewPages()
    this.#pages.markStale(inView)
    const { from, to } = this.#view
    const isKnown = to > from && to - from <= MAX_WINDOW && inView.every((page) => this.#pages.has(page))
    if (isKnown && !this.#isSelecting && (await this.#readWindow(from, to))) return
    await Promise.all(inView.map((page) => this.#load(page, true)))
  }

  async #readWindow(from: number, to: number): Promise<boolean> {
    const { selection, sort } = this
    try {
      const data = await this.#fetchWindow(from, to)
      if (this.#selection !== selection || this.#sort !== sort) return true
      const isSame =
        data.total_count === this.#total &&
        data.rows.every(({ row_id }, at) => this.row(from + at)?.row_id === row_id)
      if (!isSame) return false
      for (const [at, row] of data.rows.entries()) {
        if (this.#pages.replace(from + at, row)) this.#listeners.notifySoon(from + at)
      }
      for (const page of this.#viewPages()) this.#pages.markRead(page, from, to)
      this.#setProblem(null)
      return true
    } catch (error) {
      this.#setProblem(error)
      return true
    }
  }

  async #fetchWindow(from: number, to: number): Promise<{ rows: readonly Row[]; total_count: number }> {
    if (this.#order !== null) {
      const ids = Array.from({ length: to - from }, (_, at) => this.row(from + at)?.row_id)
      return this.#order.readAgain(ids.filter((id) => id !== undefined))
    }
    const search = await this.#getSearch()
    if (search !== null) return this.#readFound(search, from, to)
    const body = { offset: from, limit: to - from, ...selectionBody(this.#selection) }
    return fetchData(sheetCall(this.#sheet, 'POST /internal/rows/window', { body }))
  }

  #makeOrder(): RowOrder | null {
    return this.#sort.length === 0 ? null : new RowOrder(this.#sheet, this.#selection, this.#sort)
  }

  /** Stores an error and notifies. An unreachable server is retried until it responds. */
  #setProblem(problem: unknown): void {
    if (isUnavailable(problem)) {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined
        void this.refresh()
      }, RETRY_MS)
    }
    if (problem === this.#problem) return
    this.#problem = problem
    this.#notifyCount()
  }

  #stopLoading(): void {
    for (const loading of this.#loading.values()) loading.abort()
    this.#loading.clear()
  }

  #loadUnlessKnown(page: number): void {
    if (!this.#pages.isFresh(page)) void this.#load(page)
  }

  async #load(page: number, again = false): Promise<void> {
    if (this.#loading.has(page)) {
      if (!again) return
      this.#loading.get(page)?.abort()
    }
    const loading = new AbortController()
    this.#loading.set(page, loading)
    try {
      const search = await this.#getSearch()
      const data =
        search === null
          ? await this.#readPage(page, loading.signal)
          : await this.#readFound(search, page * PAGE_ROWS, (page + 1) * PAGE_ROWS)
      if (loading.signal.aborted) return
      this.#take(page, data)
    } catch (error) {
      if (loading.signal.aborted) return
      if (error instanceof ApiError && error.code === 'ORDER_EXPIRED') this.sortAgain()
      else this.#setProblem(error)
    } finally {
      if (this.#loading.get(page) === loading) this.#loading.delete(page)
    }
  }

  async #readPage(page: number, signal: AbortSignal): Promise<RowPage> {
    if (this.#order !== null) {
      const sorted = await this.#order.readPage(page, signal)
      // A deleted row leaves a gap in the order, so the rows are sorted again without it.
      if (!sorted.isComplete && !signal.aborted) this.sortAgain()
      return sorted
    }
    const body = { page_no: page + 1, page_size: PAGE_ROWS, ...selectionBody(this.#selection) }
    return fetchData(sheetCall(this.#sheet, 'POST /rows/list', { body }), { signal })
  }

  /** Reads a range of the rows found so far. */
  async #readFound(search: TextSearch, from: number, to: number): Promise<RowPage> {
    const row_ids = search.ids.slice(from, to)
    const page = { page_no: 1, page_size: PAGE_ROWS }
    if (row_ids.length === 0) return { rows: [], total_count: search.ids.length, ...page }
    const body = { row_ids, page_size: row_ids.length }
    const { rows } = await fetchData(sheetCall(this.#sheet, 'POST /rows/list', { body }))
    if (rows.length < row_ids.length) {
      const existing = new Set(rows.map(({ row_id }) => row_id))
      search.forget(new Set(row_ids.filter((id) => !existing.has(id))))
    }
    return { rows, total_count: search.ids.length, ...page }
  }

  /** Returns the text search, or null if the server returns the rows directly: sorted, without a text, or in a sheet searched at once. */
  #getSearch(): Promise<TextSearch | null> {
    if (this.#order !== null) return Promise.resolve(null)
    this.#searching ??= this.#selection.find === '' ? Promise.resolve(null) : this.#beginSearch()
    return this.#searching
  }

  async #beginSearch(): Promise<TextSearch | null> {
    const search = new TextSearch(this.#sheet, this.#selection, () => this.#takeFound(search))
    try {
      await search.begin()
    } catch (error) {
      // The next attempt starts a new search.
      this.#searching = undefined
      throw error
    }
    if (search.isOver) return null
    this.#search = search
    search.continue().catch((error: unknown) => this.#search === search && this.#setProblem(error))
    return search
  }

  #takeFound(search: TextSearch): void {
    if (this.#search !== search) return
    const shown = this.#total ?? 0
    if (search.ids.length > shown) this.#pages.markPageStale(Math.floor(shown / PAGE_ROWS))
    this.#total = search.ids.length
    this.#notifyCount()
    for (const page of this.#viewPages()) this.#loadUnlessKnown(page)
  }

  #stopSearch(): void {
    this.#search?.stop()
    this.#search = null
    this.#searching = undefined
  }

  #take(page: number, { rows, total_count }: RowPage): void {
    const changed = this.#pages.store(page, rows, this.#viewPages())
    if (this.#total !== total_count || this.#problem !== null || this.#isSelecting) {
      this.#isSelecting = false
      this.#total = total_count
      this.#problem = null
      this.#notifyCount()
    }
    for (const index of changed) this.#listeners.notifySoon(index)
  }

  #isMoving(): boolean {
    return performance.now() - this.#movedAt < MOVING_MS
  }

  #notifyCount(): void {
    for (const listener of this.#countListeners) listener()
  }
}
