import { LRUCache } from 'lru-cache'

/**
 * The average time of an expression from which an owner counts as slow. An expression usually takes less than a
 * millisecond.
 */
const SLOW_MS = 20
const WEIGHT = 0.2
const MAX_OWNERS = 10_000

export type SlowOwners = { note(owner: string, ms: number): void; has(owner: string): boolean }

/** Keeps track of the owners whose recent expressions were slow. */
export function createSlowOwners(): SlowOwners {
  const averages = new LRUCache<string, number>({ max: MAX_OWNERS })
  return {
    note(owner, ms) {
      const before = averages.get(owner) ?? 0
      averages.set(owner, before + WEIGHT * (ms - before))
    },
    has: (owner) => (averages.get(owner) ?? 0) > SLOW_MS,
  }
}
