import { LRUCache } from 'lru-cache'
import type { ProviderRate } from '../catalog/provider/context.ts'
import type { Db } from '../database/connection/db.ts'
import { RATE_DAYS, readHitRates } from './store/provider-tallies.ts'

/**
 * The time for which rates are kept. They change slowly, and every cell of a waterfall that orders itself asks for
 * them.
 */
const KEPT_MS = 60_000

export function createProviderRates(
  db: Db,
): (org: string, action: string) => Promise<readonly ProviderRate[]> {
  const kept = new LRUCache<string, Promise<readonly ProviderRate[]>>({ max: 1000, ttl: KEPT_MS })
  return (org, action) => {
    const key = `${org} ${action}`
    const known = kept.get(key)
    if (known !== undefined) return known
    const reading = readHitRates(db, org, { days: RATE_DAYS, action }).then((rates) =>
      rates.map(({ provider, asked, found, price_per_find }) => ({
        provider,
        asked,
        found,
        credits: (price_per_find ?? 0) * found,
      })),
    )
    // A failure is not kept: the next cell asks again.
    reading.catch(() => kept.delete(key))
    kept.set(key, reading)
    return reading
  }
}
