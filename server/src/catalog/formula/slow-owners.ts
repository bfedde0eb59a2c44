import { LRUCache } from 'lru-cache'

/** An expression takes less than a millisecond. Whose take longer than this on average is at work for long. */
const SLOW_MS = 20
const WEIGHT = 0.2
const MAX_OWNERS = 10_000

/** Whose expressions have been slow of late. */
export function createSlowOwners(): { note(owner: string, ms: number): void; has(owner: string): boolean } {
  const averages = new LRUCache<string, number>({ max: MAX_OWNERS })
  return {
    note(owner, ms) {
      const before = averages.get(owner) ?? 0
      averages.set(owner, before + WEIGHT * (ms - before))
    },
    has: (owner) => (averages.get(owner) ?? 0) > SLOW_MS,
  }
}
