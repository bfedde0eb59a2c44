import { randomUUID } from 'node:crypto'
import type { Store } from '../../database/connection/db.ts'
import { reasonOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { createFairQueue, type FairQueue } from '../../lib/timing/fair-queue.ts'
import { TAKE_PLACES } from './take-places.ts'

const BEAT_MS = 5000
const SILENCE_MS = 30_000
const ASK_AGAIN_MS = 100
/** The age after which a process that waited for places no longer counts as waiting. */
const WANTING_MS = 1000
/**
 * The most rows of an organisation that wait in the process for a place. Other rows are parked, so that they do not
 * fill the process.
 */
const MAX_WAITING = 100

type Bucket = {
  limit: number
  underWay: number
  /** The value of `underWay` that the database was last told. */
  noted: number
  /** Rows that wait. Organisations take turns. */
  waiting: FairQueue<(entered: boolean) => void>
  busy: boolean
  /** Ends the pause before the next question, because a place became free in this process. */
  wake?: () => void
}

export type Places = {
  /** Takes a place. Returns false if too many rows of the owner wait already, or the signal aborts. */
  take(bucket: string, owner: string, limit: number, signal: AbortSignal): Promise<boolean>
  giveBack(bucket: string): void
  /**
   * Resolves when the database knows the number of all buckets. Nothing is written after it unless a place is taken.
   */
  flush(): Promise<void>
}

/**
 * Creates a counter of calls at once, among all processes: each process keeps its own number, and asks for more under
 * the gate's lock.
 */
export function createPlaces(store: Store, log: Log): Places {
  const buckets = new Map<string, Bucket>()
  const conversations = createConversations(store, log)
  let beating: NodeJS.Timeout | undefined

  function beat(): void {
    let active = false
    for (const [name, bucket] of buckets) {
      if (bucket.underWay === 0 && bucket.noted === 0) continue
      active = true
      // Reported even if nothing has changed: other processes must see that this one lives.
      bucket.noted = -1
      conversations.begin(name, bucket)
    }
    if (!active) endBeat()
  }

  function endBeat(): void {
    clearInterval(beating)
    beating = undefined
  }

  return {
    take(name, owner, limit, signal) {
      const bucket = buckets.get(name) ?? openBucket(limit)
      buckets.set(name, bucket)
      bucket.limit = limit
      if (bucket.waiting.sizeOf(owner) >= MAX_WAITING || signal.aborted) return Promise.resolve(false)
      beating ??= setInterval(beat, BEAT_MS).unref()
      const entered = waitFor(bucket, owner, signal)
      conversations.begin(name, bucket)
      return entered
    },
    giveBack(name) {
      const bucket = buckets.get(name)
      if (bucket === undefined) return
      bucket.underWay -= 1
      bucket.wake?.()
      conversations.begin(name, bucket)
    },
    async flush() {
      endBeat()
      await conversations.end()
    },
  }
}

/** Resolves when the row has a place, or with false when it gives up. */
function waitFor({ waiting }: Bucket, owner: string, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const entry = (entered: boolean) => {
    signal.removeEventListener('abort', giveUp)
    resolve(entered)
  }
  const giveUp = () => {
    if (waiting.remove(owner, entry)) resolve(false)
  }
  signal.addEventListener('abort', giveUp, { once: true })
  waiting.push(owner, entry)
  return promise
}

/** Creates the exchange of numbers with the database: one for each bucket at a time, while there is something to tell or to ask. */
function createConversations(store: Store, log: Log) {
  const holder = randomUUID()
  const underWay = new Set<Promise<void>>()

  async function ask(name: string, bucket: Bucket): Promise<number> {
    const [answer] = await store.query<{ granted: number }>({
      name: 'engine-take-places',
      text: TAKE_PLACES,
      values: [name, holder, bucket.underWay, bucket.waiting.size(), bucket.limit, SILENCE_MS, WANTING_MS],
    })
    return answer?.granted ?? 0
  }

  async function converse(name: string, bucket: Bucket): Promise<void> {
    try {
      while (bucket.waiting.size() > 0 || bucket.underWay !== bucket.noted) {
        const told = bucket.underWay
        const granted = await ask(name, bucket)
        bucket.noted = told + granted
        admit(bucket, granted)
        // A place that was given back while the database was asked is reported to it at once.
        if (granted === 0 && bucket.waiting.size() > 0 && bucket.underWay === bucket.noted)
          await pauseOf(bucket)
      }
    } catch (cause) {
      // Waiting rows are parked, and the next beat reports the number to the database.
      log.warn({ cause: reasonOf(cause) }, 'calls at once could not be counted; it is tried again')
      for (const enter of bucket.waiting.drain()) enter(false)
    } finally {
      bucket.busy = false
    }
  }

  return {
    begin(name: string, bucket: Bucket): void {
      if (bucket.busy) return
      bucket.busy = true
      const conversation = converse(name, bucket).finally(() => underWay.delete(conversation))
      underWay.add(conversation)
    },
    end: async () => void (await Promise.all(underWay)),
  }
}

/** Gives places to rows that wait. Places that no row takes any more are free again. */
function admit(bucket: Bucket, granted: number): void {
  bucket.underWay += granted
  for (let given = 0; given < granted; given += 1) {
    const next = bucket.waiting.take(1)
    if (next === null) bucket.underWay -= 1
    else for (const enter of next.items) enter(true)
  }
}

/** Waits before the database is asked again, or until a place is free in this process. */
const pauseOf = (bucket: Bucket): Promise<void> =>
  new Promise((resolve) => {
    bucket.wake = resolve
    setTimeout(resolve, ASK_AGAIN_MS)
  })

function openBucket(limit: number): Bucket {
  return { limit, underWay: 0, noted: 0, waiting: createFairQueue(), busy: false }
}
