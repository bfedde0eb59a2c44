import type { Refusal } from '../../catalog/provider/reply.ts'
import { type Progress, type PulledPage, type PulledRecord, type Step, stepOn } from '../walk.ts'

/** Pages that are written together: as many as come in a moment, so that small pages cost little more than large ones. */
export type PageBatch = {
  records: PulledRecord[]
  skipped: number
  pages: number
  /** How many of them a model found something on. */
  pagesByModel: number
  /** Where the batch leads, as its last page says. */
  last: PulledPage
  step: Step
  /** What the page after the last one came to, where that was no page: it is not asked for again. */
  refusal: Refusal | null
}

/** A batch is written when it has so many records or bytes, or took so long; a single page may have more. */
export type BatchLimits = { records: number; bytes: number; ms: number }

export const BATCH_LIMITS: BatchLimits = { records: 1000, bytes: 4_000_000, ms: 300 }

/** Each page by itself. */
export const ONE_PAGE: BatchLimits = { records: 1, bytes: 1, ms: 0 }

type Start = { state: unknown; progress: Progress; limit: number }
type Read = (state: unknown, limit: number) => Promise<PulledPage | Refusal>

/** Reads pages from a state on. A refusal of the first one is the answer. */
export async function readBatch(read: Read, start: Start, limits: BatchLimits): Promise<PageBatch | Refusal> {
  const started = performance.now()
  const records = new Map<string, PulledRecord>()
  let { state, progress } = start
  let [pages, pagesByModel, skipped, bytes] = [0, 0, 0, 0]
  let before: Pick<PageBatch, 'last' | 'step'> | null = null
  for (;;) {
    const page = await read(state, Math.max(1, start.limit - records.size))
    const so = { records: [...records.values()], skipped, pages, pagesByModel }
    if ('kind' in page) return before === null ? page : { ...before, ...so, refusal: page }
    pages += 1
    if (page.isReadByModel) pagesByModel += 1
    skipped += page.skipped
    for (const record of page.records) {
      bytes += record.data.length
      // One that comes again has its latest data, in its first place.
      records.set(record.key, record)
    }
    const step = stepOn(progress, state, page)
    const isLarge = records.size >= Math.min(limits.records, start.limit) || bytes >= limits.bytes
    const isLate = performance.now() - started >= limits.ms
    if (!step.goesOn || page.afterMs > 0 || isLarge || isLate) {
      return { records: [...records.values()], skipped, pages, pagesByModel, last: page, step, refusal: null }
    }
    before = { last: page, step }
    progress = step.progress
    state = page.next
  }
}
