import type { RowJob } from './flights/flight.ts'

/** Runs of pure actions only, by what the jobs of their rows have in common. */
export type PureRuns = { has(job: RowJob): boolean; add(job: RowJob): void }

const KEPT = 1000

export function createPureRuns(): PureRuns {
  const known = new Set<string>()
  const keyOf = ({ o, t }: RowJob) => `${o} ${t}`
  return {
    has: (job) => known.has(keyOf(job)),
    add(job) {
      if (known.size >= KEPT) known.clear()
      known.add(keyOf(job))
    },
  }
}
