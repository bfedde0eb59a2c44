import { LRUCache } from 'lru-cache'
import { AppError } from '../../lib/errors.ts'
import { plural } from '../../lib/plural.ts'

const MINUTE_MS = 60_000
const MAX_ADDRESSES = 10_000

/**
 * Creates a limit per address and minute for endpoints that must answer without a database. Each process
 * counts for itself. The returned function throws 429 beyond the limit.
 */
export function createAddressLimit(perMinute: number): (address: string) => void {
  const counts = new LRUCache<string, { used: number }>({ max: MAX_ADDRESSES, ttl: MINUTE_MS })
  return (address) => {
    const count = counts.get(address)
    if (count === undefined) {
      counts.set(address, { used: 1 })
      return
    }
    count.used += 1
    if (count.used <= perMinute) return
    const retryAfter = Math.max(1, Math.ceil(counts.getRemainingTTL(address) / 1000))
    throw new AppError(
      'Too Many Requests',
      `Rate limit of ${plural(perMinute, 'request')} per minute exceeded. Try again in ${plural(retryAfter, 'second')}`,
      { retryAfter },
    )
  }
}
