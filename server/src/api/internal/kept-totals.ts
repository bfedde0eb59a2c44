import { LRUCache } from 'lru-cache'

export type Totals = { rows: number; settled: Record<string, number> }
export type TotalsAnswer = Totals & { next_in_ms: number }

type Kept = {
  totals: Totals
  /** When counting began: what settled later is not in it. */
  at: number
  tookMs: number
}

/** Of the time, that counting one sheet may take, however many look at it and however often they ask. */
const SHARE = 0.1
/** Counts that took no longer are made for whoever asks. */
const QUICK_MS = 20
const MAX_KEPT = 1000

/**
 * Counts of sheets, each made once for all who ask at the same moment. A large sheet is counted a tenth of the time at most; in
 * between its last count is answered, with when it is worth while to ask again.
 */
export function createKeptTotals() {
  const kept = new LRUCache<string, Kept>({ max: MAX_KEPT })
  const counting = new Map<string, Promise<Kept>>()

  async function count(key: string, read: () => Promise<Totals>): Promise<Kept> {
    const at = performance.now()
    const totals = await read()
    const made = { totals, at, tookMs: performance.now() - at }
    kept.set(key, made)
    return made
  }

  return {
    /** The key names the sheet and what is counted of it. */
    async read(key: string, read: () => Promise<Totals>): Promise<TotalsAnswer> {
      const last = kept.get(key)
      const now = performance.now()
      const nextAt =
        last === undefined || last.tookMs <= QUICK_MS ? now : last.at + last.tookMs + last.tookMs / SHARE
      if (last !== undefined && now < nextAt) return { ...last.totals, next_in_ms: Math.ceil(nextAt - now) }
      // Who comes while it is counted may have heard of what settled since: it is told to ask once more.
      const running = counting.get(key)
      if (running !== undefined) {
        const { totals, tookMs } = await running
        return { ...totals, next_in_ms: Math.ceil(tookMs <= QUICK_MS ? QUICK_MS : tookMs / SHARE) }
      }
      const made = count(key, read).finally(() => counting.delete(key))
      counting.set(key, made)
      return { ...(await made).totals, next_in_ms: 0 }
    },
  }
}
