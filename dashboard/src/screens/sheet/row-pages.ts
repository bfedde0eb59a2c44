import type { Row } from '../../api/sheet.ts'

export const PAGE_ROWS = 100
/** The maximum number of pages in memory. Pages away from the view are dropped, so that a million rows do not pile up. */
export const MAX_PAGES = 60

type Page = { rows: readonly Row[]; isStale: boolean }
type TypedRow = { row_id: string; inputs: Record<string, unknown> }

/** Holds pages of rows, with the values that were typed but not saved yet. Rows that have not changed keep their objects. */
export class RowPages {
  /** The pages by number, those that were loaded last at the end. */
  #pages = new Map<number, Page>()
  /** The unsaved values by row. They replace the older values that the server still returns. */
  #typed = new Map<string, Record<string, unknown>[]>()

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

  has(page: number): boolean {
    return this.#pages.has(page)
  }

  /** Returns true if the page is loaded and was not marked since. */
  isFresh(page: number): boolean {
    return this.#pages.get(page)?.isStale === false
  }

  /** Marks all pages to be read again, except those given. */
  markStale(except: readonly number[] = []): void {
    for (const [page, known] of this.#pages) if (!except.includes(page)) known.isStale = true
  }

  markPageStale(page: number): void {
    const known = this.#pages.get(page)
    if (known !== undefined) known.isStale = true
  }

  /** Marks a page of which only the rows from..to were just read: the rest of it is older. */
  markRead(page: number, from: number, to: number): void {
    const known = this.#pages.get(page)
    const start = page * PAGE_ROWS
    if (known !== undefined) known.isStale = from > start || to < start + known.rows.length
  }

  /** Returns the rows from..to that are on the page. */
  slice(page: number, from: number, to: number): readonly Row[] {
    const start = page * PAGE_ROWS
    return (this.#pages.get(page)?.rows ?? []).slice(Math.max(0, from - start), to - start + 1)
  }

  /** Stores a page, and drops the oldest pages that are not in view. Returns the indexes of the rows that have changed. */
  store(page: number, rows: readonly Row[], inView: readonly number[]): number[] {
    const before = this.#pages.get(page)?.rows ?? []
    const kept = rows.map((row, place) => keepUnchanged(before[place], this.#withTyped(row)))
    this.#pages.delete(page)
    this.#pages.set(page, { rows: kept, isStale: false })
    for (const known of this.#pages.keys()) {
      if (this.#pages.size <= MAX_PAGES) break
      if (!inView.includes(known)) this.#pages.delete(known)
    }
    return Array.from({ length: PAGE_ROWS }, (_, place) => place)
      .filter((place) => kept[place] !== before[place])
      .map((place) => page * PAGE_ROWS + place)
  }

  /** Replaces a row that is loaded. Returns true if anything in it has changed. */
  replace(index: number, row: Row): boolean {
    const page = this.#pages.get(Math.floor(index / PAGE_ROWS))
    const before = page?.rows[index % PAGE_ROWS]
    if (page === undefined || before === undefined) return false
    const kept = keepUnchanged(before, this.#withTyped(row))
    if (kept === before) return false
    page.rows = page.rows.with(index % PAGE_ROWS, kept)
    return true
  }

  /** Shows unsaved values until they are released. Returns the indexes of the rows that have changed. */
  type(edits: readonly TypedRow[]): number[] {
    const indexes = this.#indexById()
    return edits.flatMap(({ row_id, inputs }) => {
      this.#typed.set(row_id, [...(this.#typed.get(row_id) ?? []), inputs])
      const index = indexes.get(row_id)
      const row = index === undefined ? undefined : this.row(index)
      return index !== undefined && row !== undefined && this.replace(index, row) ? [index] : []
    })
  }

  /** Forgets unsaved values. The rows show them until they are read again. */
  release(edits: readonly TypedRow[]): void {
    for (const { row_id, inputs } of edits) {
      const left = (this.#typed.get(row_id) ?? []).filter((one) => one !== inputs)
      if (left.length === 0) this.#typed.delete(row_id)
      else this.#typed.set(row_id, left)
    }
  }

  #indexById(): Map<string, number> {
    const indexes = new Map<string, number>()
    for (const [page, { rows }] of this.#pages) {
      for (const [place, { row_id }] of rows.entries()) indexes.set(row_id, page * PAGE_ROWS + place)
    }
    return indexes
  }

  #withTyped(row: Row): Row {
    const typed = this.#typed.get(row.row_id)
    return typed === undefined ? row : { ...row, inputs: Object.assign({}, row.inputs, ...typed) }
  }
}

/** Returns the new row, but keeps the old objects for everything that is unchanged, down to the cell, so that React does not redraw them. */
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
  if (JSON.stringify(before.open_comments) !== JSON.stringify(after.open_comments)) changed = true
  return changed ? { ...after, cells } : before
}
