import { LRUCache } from 'lru-cache'
import type { RowJob } from './flights/flight.ts'

/** Runs whose rows are likely to be written as a whole, by what the jobs of their rows have in common. */
export type PureRuns = {
  has(job: RowJob): boolean
  add(job: RowJob): void
  remove(job: RowJob): void
  /** One of the first rows of the run is looked at, until the function that it answers is called: by then the run is here, or not. */
  lookAt(job: RowJob): () => void
  /** Resolves when that is known of one of the rows that are looked at; undefined where none is. */
  told(job: RowJob): Promise<void> | undefined
}

export function createPureRuns(): PureRuns {
  const known = new LRUCache<string, true>({ max: 1000 })
  const looked = new Map<string, PromiseWithResolvers<void>>()
  const keyOf = ({ o, t, run }: RowJob) => `${o} ${run ?? t}`
  return {
    has: (job) => known.has(keyOf(job)),
    add: (job) => void known.set(keyOf(job), true),
    remove: (job) => void known.delete(keyOf(job)),
    lookAt(job) {
      const key = keyOf(job)
      const look = looked.get(key) ?? Promise.withResolvers<void>()
      looked.set(key, look)
      return () => {
        if (looked.get(key) === look) looked.delete(key)
        look.resolve()
      }
    },
    told: (job) => looked.get(keyOf(job))?.promise,
  }
}
