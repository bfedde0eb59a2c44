import { LRUCache } from 'lru-cache'
import type { RowJob } from './flights/flight.ts'

/** Runs whose rows are likely to be written as a whole, by what the jobs of their rows have in common. */
export type PureRuns = { has(job: RowJob): boolean; add(job: RowJob): void; remove(job: RowJob): void }

export function createPureRuns(): PureRuns {
  const known = new LRUCache<string, true>({ max: 1000 })
  const keyOf = ({ o, t, run }: RowJob) => `${o} ${run ?? t}`
  return {
    has: (job) => known.has(keyOf(job)),
    add: (job) => void known.set(keyOf(job), true),
    remove: (job) => void known.delete(keyOf(job)),
  }
}
