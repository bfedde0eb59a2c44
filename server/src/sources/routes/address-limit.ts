import { LRUCache } from 'lru-cache'

const WINDOW_MS = 60_000
const MAX_KNOWN = 50_000

/**
 * Counts requests by name in this process, in windows of a minute. If there are too many names, those silent for
 * longest are forgotten: the limit of the source as a whole then covers a flood from many addresses.
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
