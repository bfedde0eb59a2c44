import { randomUUID } from 'node:crypto'
import { reasonOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Store } from '../../store/connection/db.ts'
import { TAKE_PLACES } from '../sql/take-places.ts'

const BEAT_MS = 5000
const SILENCE_MS = 30_000
const ASK_AGAIN_MS = 100
/** Rows that wait in the process for a place; more than that are parked, so that they do not fill the process. */
const MAX_WAITING = 100

type Bucket = {
  limit: number
  underWay: number
  /** What the database was last told of `underWay`. */
  noted: number
  waiting: ((entered: boolean) => void)[]
  busy: boolean
  /** A place became free in this process: there is no need to wait before asking again. */
  wake?: () => void
}

export type Places = {
  /** False when too many wait already, or the signal aborts. */
  take(bucket: string, limit: number, signal: AbortSignal): Promise<boolean>
  giveBack(bucket: string): void
  /** Resolves when the database knows the number of all buckets; nothing is told after it unless a place is taken. */
  flush(): Promise<void>
}

/** Calls at once, counted among all processes: each keeps its own number, and asks for more under the gate's lock. */
export function createPlaces(store: Store, log: Log): Places {
  const holder = randomUUID()
  const buckets = new Map<string, Bucket>()
  const conversations = new Set<Promise<void>>()
  let beating: NodeJS.Timeout | undefined

  async function ask(name: string, bucket: Bucket): Promise<number> {
    const { underWay, waiting, limit } = bucket
    const [answer] = await store.query<{ granted: number }>({
      name: 'engine-take-places',
      text: TAKE_PLACES,
      values: [name, holder, underWay, waiting.length, limit, SILENCE_MS],
    })
    const granted = answer?.granted ?? 0
    bucket.noted = underWay + granted
    bucket.underWay += granted
    for (let given = 0; given < granted; given += 1) {
      const next = bucket.waiting.shift()
      if (next === undefined) bucket.underWay -= 1
      else next(true)
    }
    return granted
  }

  /** One conversation with the database per bucket, as long as there is something to say or to ask. */
  function syncCount(name: string, bucket: Bucket): void {
    if (bucket.busy) return
    bucket.busy = true
    const conversation = converse(name, bucket).finally(() => conversations.delete(conversation))
    conversations.add(conversation)
  }

  async function converse(name: string, bucket: Bucket): Promise<void> {
    try {
      while (bucket.waiting.length > 0 || bucket.underWay !== bucket.noted) {
        const granted = await ask(name, bucket)
        if (granted === 0 && bucket.waiting.length > 0) {
          await new Promise<void>((resolve) => {
            bucket.wake = resolve
            setTimeout(resolve, ASK_AGAIN_MS)
          })
        }
      }
    } catch (cause) {
      // Those who wait are parked, and the next beat tells the database the number.
      log.warn({ cause: reasonOf(cause) }, 'calls at once could not be counted; it is tried again')
      for (const next of bucket.waiting.splice(0)) next(false)
    } finally {
      bucket.busy = false
    }
  }

  function beat(): void {
    let active = false
    for (const [name, bucket] of buckets) {
      if (bucket.underWay === 0 && bucket.noted === 0) continue
      active = true
      // Also when nothing has changed: the others must hear that this process lives.
      bucket.noted = -1
      syncCount(name, bucket)
    }
    if (active) return
    clearInterval(beating)
    beating = undefined
  }

  return {
    take(name, limit, signal) {
      const bucket = buckets.get(name) ?? { limit, underWay: 0, noted: 0, waiting: [], busy: false }
      buckets.set(name, bucket)
      bucket.limit = limit
      if (bucket.waiting.length >= MAX_WAITING || signal.aborted) return Promise.resolve(false)
      beating ??= setInterval(beat, BEAT_MS).unref()
      return new Promise((resolve) => {
        const entry = (entered: boolean) => {
          signal.removeEventListener('abort', giveUp)
          resolve(entered)
        }
        const giveUp = () => {
          const place = bucket.waiting.indexOf(entry)
          if (place < 0) return
          bucket.waiting.splice(place, 1)
          resolve(false)
        }
        signal.addEventListener('abort', giveUp, { once: true })
        bucket.waiting.push(entry)
        syncCount(name, bucket)
      })
    },
    giveBack(name) {
      const bucket = buckets.get(name)
      if (bucket === undefined) return
      bucket.underWay -= 1
      bucket.wake?.()
      syncCount(name, bucket)
    },
    async flush() {
      clearInterval(beating)
      beating = undefined
      await Promise.all(conversations)
    },
  }
}
