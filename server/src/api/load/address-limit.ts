import { LRUCache } from 'lru-cache'

const MINUTE_MS = 60_000
const MAX_ADDRESSES = 50_000

/**
 * Counts requests by address, in this process alone and for a minute at a time, without asking the database. Returns the seconds
 * after which the address may try again, or 0 if it is within its limit. If there are more addresses than it can hold, it forgets
 * those that were silent longest.
 */
export function createAddressLimit(
  perMinute: number,
  maxAddresses = MAX_ADDRESSES,
): (address: string) => number {
  const counts = new LRUCache<string, { used: number }>({ max: maxAddresses, ttl: MINUTE_MS })
  return (address) => {
    const count = counts.get(address)
    if (count === undefined) counts.set(address, { used: 1 })
    else count.used += 1
    if ((count?.used ?? 1) <= perMinute) return 0
    return Math.max(1, Math.ceil(counts.getRemainingTTL(address) / 1000))
  }
}
