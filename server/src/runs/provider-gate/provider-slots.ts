import type { Store } from '../../database/connection/db.ts'
import { TAKE_SLOT } from './take-slot.ts'

/** The wait up to which the process waits for a slot. For later slots the row is parked. */
export const SHORT_WAIT_MS = 1000
export const HORIZON_MS = 30_000
/** The number of plans at which expired ones are forgotten. */
const MAX_PLANS = 1000

export type SlotQueue = {
  /** Returns the milliseconds until the slot starts; or, if none is given, until the time to ask again. */
  take(bucket: string, owner: string, interval: number): Promise<{ startsIn: number; isGiven: boolean }>
}

/**
 * Creates the queue of slots. An organisation without a slot gets one far ahead, an organisation that has one only just
 * ahead: a flood never holds more than the next second. Its other rows come back one by one, when slots will be there
 * unless another organisation takes them.
 */
export function createSlotQueue(store: Store): SlotQueue {
  /** The time at which the last row of an owner that got no slot is to ask again. */
  const plans = new Map<string, number>()

  function planNext(name: string, interval: number): number {
    const now = Date.now()
    if (plans.size >= MAX_PLANS) for (const [other, at] of plans) if (at <= now) plans.delete(other)
    const planned = Math.max(plans.get(name) ?? 0, now) + interval
    if (planned - now > HORIZON_MS) return HORIZON_MS * (0.5 + Math.random() / 2)
    plans.set(name, planned)
    return planned - now
  }

  return {
    async take(bucket, owner, interval) {
      const ahead = Math.max(SHORT_WAIT_MS, interval)
      const [slot] = await store.query<{ starts_in_ms: number }>({
        name: 'engine-take-slot',
        text: TAKE_SLOT,
        values: [bucket, interval, HORIZON_MS, owner, ahead],
      })
      if (slot !== undefined) return { startsIn: Math.max(0, slot.starts_in_ms), isGiven: true }
      return { startsIn: planNext(`${owner} ${bucket}`, interval), isGiven: false }
    },
  }
}
