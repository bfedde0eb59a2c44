import type { z } from 'zod'
import type { FoundRows } from '#contract/row-search.ts'
import { sheetCall, type SheetId } from '../../api/calls.ts'
import { fetchData } from '../../api/client.ts'
import { type Selection, selectionBody } from '../../api/sheet.ts'

type Answer = z.infer<typeof FoundRows>

/** The number of results after which the search pauses until the person asks for more. */
const PAUSE_AFTER = 10_000

/** Searches for a text in a sheet that is too long for one response, and reports rows as they are found. */
export class TextSearch {
  readonly #sheet: SheetId
  readonly #selection: Selection
  readonly #onFound: () => void
  readonly #ended = new AbortController()
  #ids: string[] = []
  #pauseAt = PAUSE_AFTER
  #last: Answer = { row_ids: [], looked_at: 0, rows: 0, next: null }

  constructor(sheet: SheetId, selection: Selection, onFound: () => void) {
    this.#sheet = sheet
    this.#selection = selection
    this.#onFound = onFound
  }

  get ids(): readonly string[] {
    return this.#ids
  }

  get lookedAt(): number {
    return this.#last.looked_at
  }

  get rows(): number {
    return this.#last.rows
  }

  get isOver(): boolean {
    return this.#last.next === null
  }

  get isPaused(): boolean {
    return !this.isOver && this.#ids.length >= this.#pauseAt
  }

  /** Runs the first request. */
  async begin(): Promise<void> {
    await this.#search(undefined)
  }

  /** Searches on to the end of the sheet, or until the next pause. */
  async continue(): Promise<void> {
    while (this.#last.next !== null && !this.isPaused && !this.#ended.signal.aborted) {
      await this.#search(this.#last.next)
      this.#onFound()
    }
  }

  searchFurther(): Promise<void> {
    this.#pauseAt = this.#ids.length + PAUSE_AFTER
    this.#onFound()
    return this.continue()
  }

  /** Removes rows that no longer exist from the results. */
  forget(ids: ReadonlySet<string>): void {
    this.#ids = this.#ids.filter((id) => !ids.has(id))
  }

  stop(): void {
    this.#ended.abort()
  }

  async #search(from: number | undefined): Promise<void> {
    const { find, ...selection } = this.#selection
    const body = {
      ...selectionBody({ ...selection, find: '' }),
      find,
      ...(from === undefined ? {} : { from }),
    }
    const call = sheetCall(this.#sheet, 'POST /internal/rows/find', { body })
    this.#last = await fetchData(call, { signal: this.#ended.signal })
    this.#ids = [...this.#ids, ...this.#last.row_ids]
  }
}
