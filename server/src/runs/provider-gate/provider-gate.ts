import { setTimeout as sleep } from 'node:timers/promises'
import type { CallLimits, GateAnswer, ProviderGate, ProviderGates } from '../../catalog/provider/access.ts'
import type { Store } from '../../database/connection/db.ts'
import type { Log } from '../../lib/log.ts'
import { type BreakerEntry, createBreakers } from './provider-breaker.ts'
import { createPlaces } from './provider-places.ts'
import { createSlotQueue, HORIZON_MS, SHORT_WAIT_MS } from './provider-slots.ts'

type Asked = { orgId: string; bucket: string; limits: CallLimits }
type Waiting = { readonly signal: AbortSignal; slot: number | undefined }

/**
 * Creates gates by bucket, which is a provider with one key. Without limits a call costs no statement, and mostly
 * enters at once.
 */
export function createProviderGates(store: Store, log: Log): ProviderGates & { flush(): Promise<void> } {
  const breakers = createBreakers(store, log)
  const places = createPlaces(store, log)
  const slots = createSlotQueue(store)

  async function queue(
    { orgId, bucket, limits }: Asked,
    { signal, slot }: Waiting,
    breaker: BreakerEntry,
  ): Promise<GateAnswer> {
    const interval = intervalOf(limits)
    if (interval !== null && (slot === undefined || isAhead(slot))) {
      const { startsIn, isGiven } = await slots.take(bucket, orgId, interval)
      if (!isGiven) return { kind: 'busy', afterMs: startsIn }
      if (startsIn > SHORT_WAIT_MS) {
        return { kind: 'busy', afterMs: startsIn, slot: Date.now() + startsIn }
      }
      await sleep(startsIn, undefined, { signal })
    }
    const { concurrent } = limits
    if (concurrent === undefined) return admit(breaker, undefined)
    if (!(await places.take(bucket, orgId, concurrent, signal))) {
      return { kind: 'busy', afterMs: 500 + Math.random() * 1000 }
    }
    return admit(breaker, () => places.giveBack(bucket))
  }

  /** The gate of an organisation. One is made for every call. */
  class OrgGate implements ProviderGate {
    readonly #orgId: string

    constructor(orgId: string) {
      this.#orgId = orgId
    }

    async enter(
      bucket: string,
      limits: CallLimits,
      { signal }: Pick<Waiting, 'signal'>,
      slot?: number,
    ): Promise<GateAnswer> {
      const breaker = await breakers.enter(bucket)
      if (isUnlimited(limits)) return admit(breaker, undefined)
      const brokenMs = breaker.remainingMs()
      if (brokenMs > 0) return { kind: 'broken', afterMs: brokenMs }
      return queue({ orgId: this.#orgId, bucket, limits }, { signal, slot }, breaker)
    }
  }

  return {
    of: (orgId) => new OrgGate(orgId),
    flush: async () => void (await Promise.all([breakers.flush(), places.flush()])),
  }
}

function isUnlimited({ perSecond, perMinute, concurrent }: CallLimits): boolean {
  return perSecond === undefined && perMinute === undefined && concurrent === undefined
}

/** Admits a call, unless the breaker has opened while the call waited for its turn. */
function admit(breaker: BreakerEntry, giveBack: (() => void) | undefined): GateAnswer {
  const brokenMs = breaker.remainingMs()
  if (brokenMs > 0) {
    giveBack?.()
    return { kind: 'broken', afterMs: brokenMs }
  }
  return new Entered(breaker, giveBack)
}

/** A call that has entered. One is made for every call. */
class Entered {
  readonly kind = 'entered'
  readonly #breaker: BreakerEntry
  readonly #giveBack: (() => void) | undefined
  #hasLeft = false

  constructor(breaker: BreakerEntry, giveBack: (() => void) | undefined) {
    this.#breaker = breaker
    this.#giveBack = giveBack
  }

  leave(result: 'worked' | 'broken'): void {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#giveBack?.()
    this.#breaker.note(result)
  }
}

/**
 * Returns true if the row came back before its slot. A slot beyond the horizon was noted by a process with another
 * clock, and counts as due.
 */
function isAhead(slot: number): boolean {
  const startsIn = slot - Date.now()
  return startsIn > SHORT_WAIT_MS && startsIn <= HORIZON_MS
}

/**
 * Returns the milliseconds between calls. Calls are spaced evenly, so that no window of the provider contains more than
 * it allows.
 */
function intervalOf({ perSecond, perMinute }: CallLimits): number | null {
  const each = [
    perSecond === undefined ? 0 : 1000 / perSecond,
    perMinute === undefined ? 0 : 60_000 / perMinute,
  ]
  const interval = Math.max(...each)
  return interval === 0 ? null : interval
}
