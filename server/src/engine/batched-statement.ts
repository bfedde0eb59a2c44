import { createBatcher } from '../lib/timing/batcher.ts'
import { courtesy } from '../lib/timing/yielding.ts'
import { isUnavailable } from '../store/connection/db.ts'

const MAX_ITEMS = 500
/** Rows of the mass that come one by one, from providers, are in no hurry. */
const GATHERING = { enough: 100, ms: 5 }

/** Many callers, few statements. One item that PostgreSQL refuses does not take the others with it. */
export function createBatchedStatement<Item, Answer>(options: {
  lanes: number
  send: (items: Item[]) => Promise<(Answer | null)[]>
  maxItems?: number
  sizeOf?: (item: Item) => number
  /** It is put off a little while somebody waits for something else. */
  rests?: boolean
}): (item: Item) => Promise<Answer | null> {
  const { send, lanes, sizeOf, maxItems = MAX_ITEMS, rests = false } = options
  type Sent = { answer: Answer | null } | { fault: unknown }
  const batch = createBatcher<Item, Sent>({
    sizeOf,
    gather: rests ? GATHERING : undefined,
    maxItems,
    maxInFlight: lanes,
    run: async (items) => {
      if (rests) await courtesy.rest()
      try {
        return (await send(items)).map((answer) => ({ answer }))
      } catch (cause) {
        if (items.length === 1 || isUnavailable(cause)) throw cause
        const single = await Promise.allSettled(items.map((item) => send([item])))
        return single.map((one) =>
          one.status === 'fulfilled' ? { answer: one.value[0] ?? null } : { fault: one.reason },
        )
      }
    },
  })
  return async (item) => {
    const sent = await batch(item)
    if ('fault' in sent) throw sent.fault
    return sent.answer
  }
}
