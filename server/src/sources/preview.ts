import type { Refusal } from '../catalog/provider/reply.ts'
import { parseExact } from '../lib/json/lossless-json.ts'
import type { Source } from './define.ts'
import type { Reached, SourceServices } from './reach.ts'
import { readPage, START, stepOn } from './walk.ts'

export type Preview = {
  rows: Record<string, unknown>[]
  total: number
  /** There are more, or may be. */
  capped: boolean
}

/** Of JSON, that the rows of a preview take together; one row may be larger. */
const MAX_BYTES = 4_000_000
/** Pages that a preview reads at most, when they hold little or nothing. */
const MAX_PAGES = 10

/** The first rows of a source, as they would be imported. Writes nothing. */
export async function previewSource(
  source: Source,
  reached: Reached | null,
  { body, limit }: { body: Record<string, unknown>; limit: number },
  services: SourceServices,
): Promise<Preview | Refusal> {
  // What comes by itself has not come yet.
  if (reached === null) return { rows: [], total: 0, capped: false }
  const rows = new Map<string, Record<string, unknown>>()
  let state: unknown = null
  let progress = START
  let total: number | null = null
  let [capped, bytes] = [false, 0]
  for (;;) {
    const page = await readPage(source, reached, { body, state, limit: limit - rows.size }, services)
    if ('kind' in page) {
      // What was read before shows what will come; a refusal of the first page is the answer.
      if (rows.size === 0) return page
      return { rows: [...rows.values()], total: Math.max(total ?? 0, rows.size), capped: true }
    }
    const wanted = page.records.slice(0, limit - rows.size)
    for (const { key, data } of wanted) {
      bytes += data.length
      if (bytes > MAX_BYTES && rows.size > 0) break
      rows.set(key, parseExact(data) as Record<string, unknown>)
    }
    total = page.total ?? total
    capped ||= page.capped
    const step = stepOn(progress, state, page)
    // Whoever pays for a model is not made to pay for more of it than a glance takes.
    const isShown = reached.model !== null && rows.size > 0
    const isLarge = bytes > MAX_BYTES
    const isFull = isShown || rows.size >= limit || progress.pages >= MAX_PAGES || page.afterMs > 0 || isLarge
    if (!step.goesOn || isFull) {
      const more = wanted.length < page.records.length || step.goesOn || isLarge
      return {
        rows: [...rows.values()],
        total: Math.max(total ?? 0, rows.size),
        capped: capped || (total === null && more),
      }
    }
    progress = step.progress
    state = page.next
  }
}
