import { setTimeout as sleep } from 'node:timers/promises'
import type { CallLimits, GateAnswer, ProviderGate, ProviderGates } from '../../catalog/provider/access.ts'
import type { Log } from '../../lib/log.ts'
import type { Store } from '../../store/connection/db.ts'
import { type BreakerEntry, createBreakers } from './provider-breaker.ts'
import { createPlaces } from './provider-places.ts'
import { createSlotQueue, HORIZON_MS, SHORT_WAIT_MS } from './provider-slots.ts'

type Waiting = Parameters<ProviderGate['enter']>[2]

/** Limits by bucket, a provider with one key. Without limits a call costs no statement, and mostly enters at once. */
export function createProviderGates(store: Store, log: Log): ProviderGates & { flush(): Promise<void> } {
  const breakers = createBreakers(store, log)
  const places = createPlaces(store, log)
  const slots = createSlotQueue(store)

  async function queue(
    orgId: string,
    bucket: string,
    limits: CallLimits,
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

  const gateOf = (orgId: string): ProviderGate => ({
    enter(bucket, limits, waiting) {
      const pass = (breaker: BreakerEntry) => {
        const brokenMs = breaker.remainingMs()
        if (brokenMs > 0) return { kind: 'broken' as const, afterMs: brokenMs }
        return isUnlimited(limits)
          ? admit(breaker, undefined)
          : queue(orgId, bucket, limits, waiting, breaker)
      }
      const entry = breakers.enter(bucket)
      return entry instanceof Promise ? entry.then(pass) : pass(entry)
    },
  })
  return {
    of: gateOf,
    flush: async () => void (await Promise.all([breakers.flush(), places.flush()])),
  }
}

function isUnlimited({ perSecond, perMinute, concurrent }: CallLimits): boolean {
  return perSecond === undefined && perMinute === undefined && concurrent === undefined
}

/** The breaker may have opened while a call waited for its turn. */
function admit(breaker: BreakerEntry, giveBack: (() => void) | undefined): GateAnswer {
  const brokenMs = breaker.remainingMs()
  if (brokenMs > 0) {
    giveBack?.()
    return { kind: 'broken', afterMs: brokenMs }
  }
  let left = false
  return {
    kind: 'entered',
    leave(result) {
      if (left) return
      left = true
      giveBack?.()
      breaker.note(result)
    },
  }
}

/** The row came back before its slot. One beyond the horizon was noted by a process whose clock is another, and is due. */
function isAhead(slot: number): boolean {
  const startsIn = slot - Date.now()
  return startsIn > SHORT_WAIT_MS && startsIn <= HORIZON_MS
}

/** Milliseconds between calls: evenly spaced, so that no window of the provider's sees more than it allows. */
function intervalOf({ perSecond, perMinute }: CallLimits): number | null {
  const each = [
    perSecond === undefined ? 0 : 1000 / perSecond,
    perMinute === undefined ? 0 : 60_000 / perMinute,
  ]
  const interval = Math.max(...each)
  return interval === 0 ? null : interval
}
