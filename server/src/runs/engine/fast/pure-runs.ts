import { LRUCache } from 'lru-cache'
import type { RowJob } from '../flights/flight.ts'

/**
 * The runs whose rows can probably be written as a whole. A run is known by what the jobs of its rows have in common.
 */
export type PureRuns = {
  has(job: RowJob): boolean
  add(job: RowJob): void
  remove(job: RowJob): void
  /**
   * Notes that one of the first rows of the run is being looked at, until the returned function is called. By then the
   * run has been added, or it will not be.
   */
  lookAt(job: RowJob): () => void
  /** Resolves when the look at a first row of the run has ended. Returns undefined if none is being looked at. */
  whenKnown(job: RowJob): Promise<void> | undefined
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
    whenKnown: (job) => looked.get(keyOf(job))?.promise,
  }
}
