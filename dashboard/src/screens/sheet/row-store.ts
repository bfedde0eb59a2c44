import { request } from '../../api/client.ts'
import {
  type Row,
  type RowPage,
  type Selection,
  selectionBody,
  type SheetId,
  sheetPath,
} from '../../api/sheet.ts'

export const PAGE_ROWS = 100
/** Pages beyond those near the view are forgotten, so that a million rows do not stay in memory. */
const MAX_PAGES = 60

type Page = { rows: Row[]; isStale: boolean }

/** The rows of a sheet that are near the view. Whoever shows a row listens to that row alone. */
export class RowStore {
  readonly #sheet: SheetId
  #selection: Selection
  #pages = new Map<number, Page>()
  #loading = new Map<number, AbortController>()
  #listeners = new Map<number, Set<() => void>>()
  #countListeners = new Set<() => void>()
  #view = { from: 0, to: 0 }
  #total: number | null = null
  #isSelecting = false
  #problem: unknown = null

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
    const known = this.#listeners.get(index) ?? new Set()
    this.#listeners.set(index, known.add(listener))
    return () => {
      known.delete(listener)
      if (known.size === 0) this.#listeners.delete(index)
    }
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
    void this.refresh()
  }

  /** Rows from..to are in view: loads what is missing of them. */
  show(from: number, to: number): void {
    this.#view = { from, to }
    for (const page of this.#viewPages()) {
      const known = this.#pages.get(page)
      if (known === undefined || known.isStale) void this.#load(page)
    }
  }

  /** Reads again what is in view, and the rest when it comes into view. */
  async refresh(): Promise<void> {
    const inView = this.#viewPages()
    for (const [page, known] of this.#pages) {
      if (inView.includes(page)) continue
      known.isStale = true
    }
    await Promise.all((inView.length === 0 ? [0] : inView).map((page) => this.#load(page, true)))
  }

  /** Shows values before the server has them; answers what they were. */
  patch(rowId: string, inputs: Record<string, unknown>): Record<string, unknown> {
    const index = this.indexOf(rowId)
    const row = index === null ? undefined : this.row(index)
    if (index === null || row === undefined) return {}
    const before = Object.fromEntries(Object.keys(inputs).map((name) => [name, row.inputs[name] ?? null]))
    this.#put(index, { ...row, inputs: { ...row.inputs, ...inputs } })
    return before
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
    this.#stopLoading()
    this.#listeners.clear()
    this.#countListeners.clear()
  }

  #viewPages(): number[] {
    const first = Math.floor(this.#view.from / PAGE_ROWS)
    const last = Math.floor(Math.max(this.#view.from, this.#view.to - 1) / PAGE_ROWS)
    return Array.from({ length: last - first + 1 }, (_, at) => first + at)
  }

  #stopLoading(): void {
    for (const loading of this.#loading.values()) loading.abort()
    this.#loading.clear()
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
      this.#problem = error
      this.#tellCount()
    } finally {
      if (this.#loading.get(page) === loading) this.#loading.delete(page)
    }
  }

  #take(page: number, { rows, total_count }: RowPage): void {
    const before = this.#pages.get(page)?.rows ?? []
    const kept = rows.map((row, place) => keepUnchanged(before[place], row))
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
      if (kept[place] !== before[place]) this.#tellRow(page * PAGE_ROWS + place)
    }
  }

  #put(index: number, row: Row): void {
    const page = this.#pages.get(Math.floor(index / PAGE_ROWS))
    if (page === undefined) return
    page.rows = page.rows.with(index % PAGE_ROWS, row)
    this.#tellRow(index)
  }

  #forgetFarPages(): void {
    const inView = new Set(this.#viewPages())
    for (const page of this.#pages.keys()) {
      if (this.#pages.size <= MAX_PAGES) return
      if (!inView.has(page)) this.#pages.delete(page)
    }
  }

  #tellRow(index: number): void {
    for (const listener of this.#listeners.get(index) ?? []) listener()
  }

  #tellCount(): void {
    for (const listener of this.#countListeners) listener()
  }
}

/** What did not change keeps its identity, down to the cell, so that nothing of it is drawn again. */
function keepUnchanged(before: Row | undefined, after: Row): Row {
  if (before === undefined || before.row_id !== after.row_id) return after
  let changed = JSON.stringify(before.inputs) !== JSON.stringify(after.inputs)
  const cells = Object.fromEntries(
    Object.entries(after.cells).map(([id, cell]) => {
      const old = before.cells[id]
      const isSame = old !== undefined && JSON.stringify(old) === JSON.stringify(cell)
      if (!isSame) changed = true
      return [id, isSame ? old : cell]
    }),
  )
  if (Object.keys(before.cells).length !== Object.keys(cells).length) changed = true
  return changed ? { ...after, cells } : before
}
