import { request } from '../../api/client.ts'
import { isAway } from '../../api/outbox.ts'
import {
  type Row,
  type RowPage,
  type Selection,
  selectionBody,
  type SheetId,
  sheetPath,
} from '../../api/sheet.ts'
import { RowListeners } from './row-listeners.ts'
import { keepUnchanged } from './unchanged-rows.ts'

export const PAGE_ROWS = 100
/** Whoever scrolls comes there soon. */
const AHEAD_ROWS = 60
/** Pages beyond those near the view are forgotten, so that a million rows do not stay in memory. */
const MAX_PAGES = 60
/** That are read at once. */
const MAX_WINDOW = 200

/** Live changes are read at most a fourth of the time: rows that a filter chooses may take the server a while. */
const REST_PER_READ = 3
const MIN_REST_MS = 50
/** While the view moves, frames are short of time, and rows are past before they are read. */
const MIN_REST_MOVING_MS = 200
const MAX_REST_MS = 30_000
/** So long after it moved a view may move again. */
const MOVING_MS = 200

/** While the server is away it is tried this often. */
const RETRY_MS = 1500

type Page = { rows: Row[]; isStale: boolean }

/** The rows of a sheet that are near the view. Whoever shows a row listens to that row alone. */
export class RowStore {
  readonly #sheet: SheetId
  #selection: Selection
  #pages = new Map<number, Page>()
  #loading = new Map<number, AbortController>()
  #listeners = new RowListeners(() => this.#isMoving())
  #countListeners = new Set<() => void>()
  #view = { from: 0, to: 0 }
  #movedAt = 0
  #total: number | null = null
  #isSelecting = false
  #problem: unknown = null
  #reading: Promise<void> | null = null
  #next: Promise<void> | null = null
  #timer: ReturnType<typeof setTimeout> | undefined
  #readAt = 0
  /** When live changes may be read next. */
  #restsUntil = 0
  /** Values that were typed and are not written yet, by row: what the server says of them meanwhile is older. */
  #typed = new Map<string, Record<string, unknown>[]>()

  constructor(sheet: SheetId, selection: Selection) {
    this.#sheet = sheet
    this.#selection = selection
  }

  get total(): number | null {
    return this.#total
  }

  /** How many rows meet what was chosen; null until the server has said. */
  get count(): number | null {
    return this.#isSelecting ? null : this.#total
  }

  get problem(): unknown {
    return this.#problem
  }

  get selection(): Selection {
    return this.#selection
  }

  row(index: number): Row | undefined {
    return this.#pages.get(Math.floor(index / PAGE_ROWS))?.rows[index % PAGE_ROWS]
  }

  indexOf(rowId: string): number | null {
    for (const [page, { rows }] of this.#pages) {
      const place = rows.findIndex((row) => row.row_id === rowId)
      if (place >= 0) return page * PAGE_ROWS + place
    }
    return null
  }

  subscribeRow(index: number, listener: () => void): () => void {
    return this.#listeners.add(index, listener)
  }

  subscribeCount(listener: () => void): () => void {
    this.#countListeners.add(listener)
    return () => this.#countListeners.delete(listener)
  }

  /** Other rows are wanted: what is shown stays until they are there. */
  select(selection: Selection): void {
    this.#selection = selection
    this.#stopLoading()
    for (const page of this.#pages.values()) page.isStale = true
    this.#isSelecting = true
    this.#tellCount()
    this.#reading = null
    void this.refresh()
  }

  /** Rows from..to are in view: loads what is missing of them, and what is next where it moves to. */
  show(from: number, to: number): void {
    const moved = from - this.#view.from
    if (moved !== 0) this.#movedAt = performance.now()
    this.#view = { from, to }
    for (const page of this.#viewPages()) this.#loadUnlessKnown(page)
    if (moved === 0 || Math.abs(moved) > MAX_WINDOW) return
    const ahead = Math.floor((moved > 0 ? to + AHEAD_ROWS : from - AHEAD_ROWS) / PAGE_ROWS)
    if (ahead >= 0 && ahead * PAGE_ROWS < (this.#total ?? 0)) this.#loadUnlessKnown(ahead)
  }

  /** Reads again what is in view, and the rest when it comes into view. What is under way may be too old: it is followed by another. */
  refresh(): Promise<void> {
    if (this.#reading === null) return this.#read()
    this.#next ??= this.#reading.then(() => {
      this.#next = null
      return this.#read()
    })
    return this.#next
  }

  /** Something has changed: what is in view is read again, soon. */
  refreshSoon(): void {
    if (this.#timer !== undefined || this.#next !== null) return
    const rested = Math.max(this.#restsUntil, this.#isMoving() ? this.#readAt + MIN_REST_MOVING_MS : 0)
    const wait = Math.max(0, rested - performance.now())
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      void this.refresh()
    }, wait)
  }

  /** Shows values before the server has them. Call what it answers when they are written, or refused. */
  type(edits: readonly { row_id: string; inputs: Record<string, unknown> }[]): () => void {
    for (const { row_id, inputs } of edits) {
      this.#typed.set(row_id, [...(this.#typed.get(row_id) ?? []), inputs])
      const index = this.indexOf(row_id)
      const row = index === null ? undefined : this.row(index)
      if (index !== null && row !== undefined && this.#put(index, this.#withTyped(row)))
        this.#listeners.tell(index)
    }
    return () => {
      for (const { row_id, inputs } of edits) {
        const left = (this.#typed.get(row_id) ?? []).filter((one) => one !== inputs)
        if (left.length === 0) this.#typed.delete(row_id)
        else this.#typed.set(row_id, left)
      }
    }
  }

  /** All rows from..to, also those that are not in view. */
  async range(from: number, to: number): Promise<Row[]> {
    const first = Math.floor(from / PAGE_ROWS)
    const last = Math.floor(to / PAGE_ROWS)
    const rows: Row[] = []
    for (let page = first; page <= last; page += 1) {
      if (this.#pages.get(page)?.isStale !== false) await this.#load(page)
      // Taken at once: a page far from the view is soon forgotten again.
      const start = page * PAGE_ROWS
      rows.push(...(this.#pages.get(page)?.rows ?? []).slice(Math.max(0, from - start), to - start + 1))
    }
    return rows
  }

  /**
   * The place of a row among those shown; null when it is not among them. Ids grow with the order of rows, so that halving finds
   * its page.
   */
  async locate(rowId: string): Promise<number | null> {
    const near = this.indexOf(rowId)
    if (near !== null) return near
    if (this.#total === null) await this.#load(0)
    let [low, high] = [0, Math.ceil((this.#total ?? 0) / PAGE_ROWS) - 1]
    while (low <= high) {
      const page = Math.floor((low + high) / 2)
      const rows = await this.range(page * PAGE_ROWS, Math.min((page + 1) * PAGE_ROWS, this.#total ?? 0) - 1)
      const [first, last] = [rows[0], rows.at(-1)]
      if (first === undefined || last === undefined) return null
      if (rowId < first.row_id) high = page - 1
      else if (rowId > last.row_id) low = page + 1
      else return this.indexOf(rowId)
    }
    return null
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#stopLoading()
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

  /** The rows in view alone; whole pages where rows have come, gone or moved. */
  async #readView(): Promise<void> {
    const inView = this.#viewPages()
    for (const [page, known] of this.#pages) if (!inView.includes(page)) known.isStale = true
    const { from, to } = this.#view
    const isKnown = to > from && to - from <= MAX_WINDOW && inView.every((page) => this.#pages.has(page))
    if (isKnown && !this.#isSelecting && (await this.#readWindow(from, to))) return
    await Promise.all(inView.map((page) => this.#load(page, true)))
  }

  async #readWindow(from: number, to: number): Promise<boolean> {
    const selection = this.#selection
    try {
      const { data } = await request<RowPage>('POST', `/internal${sheetPath(this.#sheet)}/rows/window`, {
        offset: from,
        limit: to - from,
        ...selectionBody(selection),
      })
      if (this.#selection !== selection) return true
      const isSame =
        data.total_count === this.#total &&
        data.rows.every(({ row_id }, at) => this.row(from + at)?.row_id === row_id)
      if (!isSame) return false
      for (const [at, row] of data.rows.entries()) {
        if (this.#put(from + at, row)) this.#listeners.tellSoon(from + at)
      }
      // The rest of a page is older now: it is read again when it comes into view.
      for (const page of this.#viewPages()) {
        const known = this.#pages.get(page)
        const start = page * PAGE_ROWS
        if (known !== undefined) known.isStale = from > start || to < start + known.rows.length
      }
      this.#takeProblem(null)
      return true
    } catch (error) {
      this.#takeProblem(error)
      return true
    }
  }

  /** What cannot be reached is tried until it can; what is refused stays said. */
  #takeProblem(problem: unknown): void {
    if (isAway(problem)) {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined
        void this.refresh()
      }, RETRY_MS)
    }
    if (problem === this.#problem) return
    this.#problem = problem
    this.#tellCount()
  }

  #stopLoading(): void {
    for (const loading of this.#loading.values()) loading.abort()
    this.#loading.clear()
  }

  #loadUnlessKnown(page: number): void {
    if (this.#pages.get(page)?.isStale !== false) void this.#load(page)
  }

  async #load(page: number, again = false): Promise<void> {
    if (this.#loading.has(page)) {
      if (!again) return
      this.#loading.get(page)?.abort()
    }
    const loading = new AbortController()
    this.#loading.set(page, loading)
    try {
      const { data } = await request<RowPage>(
        'POST',
        `${sheetPath(this.#sheet)}/rows/list`,
        { page_no: page + 1, page_size: PAGE_ROWS, ...selectionBody(this.#selection) },
        { signal: loading.signal },
      )
      if (loading.signal.aborted) return
      this.#take(page, data)
    } catch (error) {
      if (loading.signal.aborted) return
      this.#takeProblem(error)
    } finally {
      if (this.#loading.get(page) === loading) this.#loading.delete(page)
    }
  }

  #take(page: number, { rows, total_count }: RowPage): void {
    const before = this.#pages.get(page)?.rows ?? []
    const kept = rows.map((row, place) => keepUnchanged(before[place], this.#withTyped(row)))
    this.#pages.delete(page)
    this.#pages.set(page, { rows: kept, isStale: false })
    this.#forgetFarPages()
    if (this.#total !== total_count || this.#problem !== null || this.#isSelecting) {
      this.#isSelecting = false
      this.#total = total_count
      this.#problem = null
      this.#tellCount()
    }
    for (let place = 0; place < PAGE_ROWS; place += 1) {
      if (kept[place] !== before[place]) this.#listeners.tellSoon(page * PAGE_ROWS + place)
    }
  }

  /** Whether anything is other than it was. */
  #put(index: number, row: Row): boolean {
    const page = this.#pages.get(Math.floor(index / PAGE_ROWS))
    const before = page?.rows[index % PAGE_ROWS]
    if (page === undefined || before === undefined) return false
    const kept = keepUnchanged(before, this.#withTyped(row))
    if (kept === before) return false
    page.rows = page.rows.with(index % PAGE_ROWS, kept)
    return true
  }

  #withTyped(row: Row): Row {
    const typed = this.#typed.get(row.row_id)
    return typed === undefined ? row : { ...row, inputs: Object.assign({}, row.inputs, ...typed) }
  }

  #forgetFarPages(): void {
    const inView = new Set(this.#viewPages())
    for (const page of this.#pages.keys()) {
      if (this.#pages.size <= MAX_PAGES) return
      if (!inView.has(page)) this.#pages.delete(page)
    }
  }

  #isMoving(): boolean {
    return performance.now() - this.#movedAt < MOVING_MS
  }

  #tellCount(): void {
    for (const listener of this.#countListeners) listener()
  }
}
