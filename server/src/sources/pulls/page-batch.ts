import type { Refusal } from '../../catalog/provider/reply.ts'
import { type Progress, type PulledPage, type PulledRecord, type Step, stepOn } from '../walk.ts'

/**
 * Pages that are written together: all that arrive within a short time, so that small pages cost little more than large
 * ones.
 */
export type PageBatch = {
  records: PulledRecord[]
  skipped: number
  pages: number
  /** The number of pages on which a model found records. */
  pagesByModel: number
  /** The last page of the batch, which says where the walk continues. */
  last: PulledPage
  step: Step
  /** The refusal of the page after the last one, if it was refused. That page is not requested again. */
  refusal: Refusal | null
}

/**
 * The limits of a batch. It is written once it reaches the number of records, the bytes or the time; a single page may
 * exceed them.
 */
export type BatchLimits = { records: number; bytes: number; ms: number }

export const BATCH_LIMITS: BatchLimits = { records: 1000, bytes: 4_000_000, ms: 300 }

/** Limits that write every page separately. */
export const ONE_PAGE: BatchLimits = { records: 1, bytes: 1, ms: 0 }

type Start = { state: unknown; progress: Progress; limit: number }
type Read = (state: unknown, limit: number) => Promise<PulledPage | Refusal>

/** Reads pages, starting at a state. Returns the refusal if the first page is refused. */
export async function readBatch(read: Read, start: Start, limits: BatchLimits): Promise<PageBatch | Refusal> {
  const started = performance.now()
  const records = new Map<string, PulledRecord>()
  let { state, progress } = start
  let [pages, pagesByModel, skipped, bytes] = [0, 0, 0, 0]
  let before: Pick<PageBatch, 'last' | 'step'> | null = null
  for (;;) {
    const page = await read(state, Math.max(1, start.limit - records.size))
    const totals = { records: [...records.values()], skipped, pages, pagesByModel }
    if ('kind' in page) return before === null ? page : { ...before, ...totals, refusal: page }
    pages += 1
    if (page.isReadByModel) pagesByModel += 1
    skipped += page.skipped
    for (const record of page.records) {
      bytes += record.data.length
      // A repeated record gets its latest data and keeps its first position.
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
