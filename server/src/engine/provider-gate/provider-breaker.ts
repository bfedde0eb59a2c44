import { reasonOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Store } from '../../store/connection/db.ts'

/** Failures in a row after which a provider is left alone, and for how long: longer each time that it fails again. */
const FAILURES = 5
const FIRST_PAUSE_MS = 5000
const MAX_PAUSE_MS = 120_000
const REFRESH_MS = 1000

type Breaker = { failures: number; brokenUntil: number; refreshedAt: number }

export type Breakers = {
  remainingMs(bucket: string): Promise<number>
  note(bucket: string, result: 'worked' | 'broken'): void
}

/**
 * A provider that fails time after time is not called for a while, by any process: failures are counted in each, the pause is
 * shared. After the pause the next call decides, since the count goes on until one works.
 */
export function createBreakers(store: Store, log: Log): Breakers {
  const breakers = new Map<string, Breaker>()

  const breakerOf = (bucket: string): Breaker => {
    const known = breakers.get(bucket) ?? { failures: 0, brokenUntil: 0, refreshedAt: 0 }
    breakers.set(bucket, known)
    return known
  }

  async function refresh(bucket: string, breaker: Breaker): Promise<void> {
    breaker.refreshedAt = Date.now()
    const [found] = await store.query<{ ms: number }>({
      name: 'engine-breaker',
      text: `select (extract(epoch from broken_until - clock_timestamp()) * 1000)::float8 as ms
        from provider_gates where bucket = $1 and broken_until > clock_timestamp()`,
      values: [bucket],
    })
    if (found !== undefined) breaker.brokenUntil = Math.max(breaker.brokenUntil, Date.now() + found.ms)
  }

  async function open(bucket: string, pauseMs: number): Promise<void> {
    await store.query({
      text: `insert into provider_gates (bucket, broken_until) values ($1, clock_timestamp() + $2 * interval '1 millisecond')
        on conflict (bucket) do update set broken_until = greatest(provider_gates.broken_until, excluded.broken_until)`,
      values: [bucket, pauseMs],
    })
  }

  return {
    async remainingMs(bucket) {
      const breaker = breakerOf(bucket)
      if (Date.now() - breaker.refreshedAt > REFRESH_MS) await refresh(bucket, breaker)
      return Math.max(0, breaker.brokenUntil - Date.now())
    },
    note(bucket, result) {
      const breaker = breakerOf(bucket)
      if (result === 'worked') {
        breaker.failures = 0
        return
      }
      breaker.failures += 1
      const beyond = breaker.failures - FAILURES
      // Calls that were under way when it opened fail too; they say nothing new.
      if (beyond < 0 || Date.now() < breaker.brokenUntil) return
      const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(beyond, 10))
      breaker.brokenUntil = Date.now() + pauseMs
      // This process leaves it alone already, whether the others hear of it or not.
      open(bucket, pauseMs).catch((cause: unknown) =>
        log.warn({ cause: reasonOf(cause), bucket }, 'other processes were not told that a provider fails'),
      )
    },
  }
}
