import type { Refusal } from '../catalog/provider/reply.ts'
import { parseExact } from '../lib/json/lossless-json.ts'
import type { Source } from './define.ts'
import { type Reached, type SourceServices, usesInstallationKey } from './reach.ts'
import { MAX_PAID_PREVIEW, MAX_PREVIEW } from './request.ts'
import { readPage, START, stepOn } from './walk.ts'

export type Preview = {
  rows: Record<string, unknown>[]
  /** The number of records in the whole source, whatever the limit (D89). */
  total: number
  /** Set if there are more records than a preview shows, or if there may be. */
  capped: boolean
}

/** The maximum size of a preview's rows together, in characters of JSON. A single row may be larger. */
const MAX_BYTES = 4_000_000
/** The maximum number of pages that a preview reads: ten rows a page, and one page to see whether there are more. */
const MAX_PAGES = 11

/** Returns the first rows of a source as an import would store them. Writes nothing. */
export async function previewSource(
  source: Source,
  reached: Reached | null,
  { body, limit }: { body: Record<string, unknown>; limit: number },
  services: SourceServices,
): Promise<Preview | Refusal> {
  // A source that receives has no data yet.
  if (reached === null) return { rows: [], total: 0, capped: false }
  const most = isPaid(reached) ? MAX_PAID_PREVIEW : MAX_PREVIEW
  const shown: Record<string, unknown>[] = []
  const seen = new Set<string>()
  let state: unknown = null
  let progress = START
  let total: number | null = null
  let [isCut, bytes] = [false, 0]
  const end = (isWhole: boolean): Preview => {
    const rows = shown.slice(0, limit)
    const hasHidden = seen.size > shown.length
    if (isWhole) return { rows, total: seen.size, capped: hasHidden }
    const count = Math.max(total ?? 0, shown.length)
    return { rows, total: count, capped: hasHidden || total === null || total > shown.length }
  }
  for (;;) {
    // One record more than is shown tells whether there are more.
    const wanted = Math.max(1, most + 1 - seen.size)
    const page = await readPage(source, reached, { body, state, limit: wanted }, services)
    // After the first page, the rows read so far are shown. A refusal of the first page is returned.
    if ('kind' in page) return seen.size === 0 ? page : end(false)
    for (const { key, data } of page.records) {
      if (seen.has(key)) continue
      const hasRoom = shown.length < most && (bytes + data.length <= MAX_BYTES || shown.length === 0)
      if (hasRoom && seen.size === shown.length) {
        shown.push(parseExact(data) as Record<string, unknown>)
        bytes += data.length
      }
      seen.add(key)
    }
    total = page.total ?? total
    isCut ||= page.capped
    const step = stepOn(progress, state, page)
    if (!step.goesOn) return end(!isCut)
    // Stops after the first page with rows if a model reads the pages, because each page costs the caller money.
    const isShown = reached.model !== null && seen.size > 0
    const isFull = seen.size > shown.length || (total !== null && shown.length >= most)
    if (isShown || isFull || step.progress.pages >= MAX_PAGES || page.afterMs > 0) return end(false)
    progress = step.progress
    state = page.next
  }
}

/** Returns true if each row costs the installation money, because its provider key or its model has a price. */
function isPaid(reached: Reached): boolean {
  const { pull, model } = reached
  const price = model === null ? pull.price : (pull.model?.pagePrice ?? 0)
  return usesInstallationKey(reached) && price > 0
}
