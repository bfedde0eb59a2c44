import type { Store } from '../../database/connection/db.ts'
import { reasonOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'

/**
 * The number of failures in a row after which a provider is not called for a while, and the length of that pause. It is
 * longer each time the provider fails again.
 */
const MAX_FAILURES = 5
const FIRST_PAUSE_MS = 5000
const MAX_PAUSE_MS = 120_000
const REFRESH_MS = 1000

type Breaker = {
  /** Failures in a row, among the calls of this round. */
  failures: number
  /** The number of times that the breaker has opened since the last call that worked. */
  openings: number
  /** The number of the round. A new one begins whenever the breaker opens, in this process or another. */
  round: number
  brokenUntil: number
  refreshedAt: number
}

export type BreakerEntry = {
  /** Returns what is left of the pause. */
  remainingMs(): number
  note(result: 'worked' | 'broken'): void
}

export type Breakers = {
  /** Enters before a call. The result of the call counts unless the breaker opens in the meantime. */
  enter(bucket: string): Promise<BreakerEntry>
  /** Resolves when all pauses are written to the database for other processes. */
  flush(): Promise<void>
}

/**
 * Creates breakers: a provider that keeps failing is not called for a while, by any process. Failures are
 * counted in each process, the pause is shared. After the pause the next call decides.
 */
export function createBreakers(store: Store, log: Log): Breakers {
  const breakers = new Map<string, Breaker>()
  const pauses = createPauses(store, log)
  const breakerOf = (bucket: string): Breaker => {
    const known = breakers.get(bucket)
    if (known !== undefined) return known
    const made = { failures: 0, openings: 0, round: 0, brokenUntil: 0, refreshedAt: 0 }
    breakers.set(bucket, made)
    return made
  }

  async function refresh(bucket: string, breaker: Breaker): Promise<void> {
    breaker.refreshedAt = Date.now()
    const ms = await pauses.read(bucket)
    if (ms === undefined) return
    const until = Date.now() + ms
    if (until <= breaker.brokenUntil) return
    // By the database's clock, the pause that this process began itself may seem to end a little later.
    if (breaker.brokenUntil > Date.now()) breaker.brokenUntil = until
    else beginPause(breaker, until)
  }

  function noteFailure(bucket: string, breaker: Breaker): void {
    breaker.failures += 1
    if (breaker.openings === 0 && breaker.failures < MAX_FAILURES) return
    const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(breaker.openings, 10))
    breaker.openings += 1
    beginPause(breaker, Date.now() + pauseMs)
    pauses.share(bucket, pauseMs)
  }

  /** A call's entry at the breaker. One is made for every call. */
  class Entry implements BreakerEntry {
    readonly #bucket: string
    readonly #breaker: Breaker
    readonly #round: number

    constructor(bucket: string, breaker: Breaker) {
      this.#bucket = bucket
      this.#breaker = breaker
      this.#round = breaker.round
    }

    remainingMs(): number {
      return Math.max(0, this.#breaker.brokenUntil - Date.now())
    }

    note(result: 'worked' | 'broken'): void {
      const breaker = this.#breaker
      // Calls that were under way when the breaker opened say nothing new, whenever they end.
      if (this.#round !== breaker.round) return
      if (result === 'broken') noteFailure(this.#bucket, breaker)
      else {
        breaker.failures = 0
        breaker.openings = 0
      }
    }
  }

  return {
    async enter(bucket) {
      const breaker = breakerOf(bucket)
      if (Date.now() - breaker.refreshedAt > REFRESH_MS) await refresh(bucket, breaker)
      return new Entry(bucket, breaker)
    },
    flush: () => pauses.flush(),
  }
}

function beginPause(breaker: Breaker, until: number): void {
  breaker.brokenUntil = until
  breaker.round += 1
  breaker.failures = 0
}

/** Creates the part that shares pauses with other processes, through the database. */
function createPauses(store: Store, log: Log) {
  const writing = new Set<Promise<void>>()

  async function write(bucket: string, pauseMs: number): Promise<void> {
    await store.query({
      text: `insert into provider_gates (bucket, broken_until) values ($1, clock_timestamp() + $2 * interval '1 millisecond')
        on conflict (bucket) do update set broken_until = greatest(provider_gates.broken_until, excluded.broken_until)`,
      values: [bucket, pauseMs],
    })
  }

  return {
    /** Returns what is left of the pause in milliseconds, or undefined if there is none. */
    async read(bucket: string): Promise<number | undefined> {
      const [found] = await store.query<{ ms: number }>({
        name: 'engine-breaker',
        text: `select (extract(epoch from broken_until - clock_timestamp()) * 1000)::float8 as ms
          from provider_gates where bucket = $1 and broken_until > clock_timestamp()`,
        values: [bucket],
      })
      return found?.ms
    },
    /** Tells other processes of a pause. This process pauses already, whether they learn of it or not. */
    share(bucket: string, pauseMs: number): void {
      const sharing = write(bucket, pauseMs)
        .catch((cause: unknown) =>
          log.warn({ cause: reasonOf(cause), bucket }, 'other processes were not told that a provider fails'),
        )
        .finally(() => writing.delete(sharing))
      writing.add(sharing)
    },
    flush: async () => void (await Promise.all(writing)),
  }
}
