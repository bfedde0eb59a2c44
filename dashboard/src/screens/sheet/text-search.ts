import type { z } from 'zod'
import type { FoundRows } from '#contract/row-search.ts'
import { request } from '../../api/client.ts'
import { type Selection, selectionBody, type SheetId, sheetPath } from '../../api/sheet.ts'

type Answer = z.infer<typeof FoundRows>

/** More than anybody reads: it pauses there until more is asked for. */
const FOUND_AT_ONCE = 10_000

/** Looks for a text through a sheet that is too long for one answer, and tells of rows as they are found. */
export class TextSearch {
  readonly #sheet: SheetId
  readonly #selection: Selection
  readonly #onFound: () => void
  readonly #ended = new AbortController()
  #ids: string[] = []
  #pauseAt = FOUND_AT_ONCE
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

  /** The first answer. */
  async begin(): Promise<void> {
    await this.#look(undefined)
  }

  /** To the end, or until a great many are found. */
  async goOn(): Promise<void> {
    while (this.#last.next !== null && !this.isPaused && !this.#ended.signal.aborted) {
      await this.#look(this.#last.next)
      this.#onFound()
    }
  }

  lookFurther(): Promise<void> {
    this.#pauseAt = this.#ids.length + FOUND_AT_ONCE
    this.#onFound()
    return this.goOn()
  }

  /** Rows that are gone by now. */
  forget(ids: ReadonlySet<string>): void {
    this.#ids = this.#ids.filter((id) => !ids.has(id))
  }

  stop(): void {
    this.#ended.abort()
  }

  async #look(from: number | undefined): Promise<void> {
    const { data } = await request<Answer>(
      'POST',
      `/internal${sheetPath(this.#sheet)}/rows/find`,
      { ...selectionBody(this.#selection), ...(from === undefined ? {} : { from }) },
      { signal: this.#ended.signal },
    )
    this.#last = data
    this.#ids = [...this.#ids, ...data.row_ids]
  }
}
