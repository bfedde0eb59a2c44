import { LRUCache } from 'lru-cache'

const WINDOW_MS = 60_000
const MAX_KNOWN = 50_000

/**
 * Counts by name, in this process alone and for a minute at a time. Of more names than it can hold the longest silent are
 * forgotten, so a flood from many places is the business of the limit that a source has as a whole.
 */
export function createAddressLimit(perMinute: number, max = MAX_KNOWN): (name: string) => boolean {
  const counts = new LRUCache<string, { count: number }>({ max, ttl: WINDOW_MS })
  return (name) => {
    const known = counts.get(name)
    if (known === undefined) counts.set(name, { count: 1 })
    else known.count += 1
    return (known?.count ?? 1) <= perMinute
  }
}
