import type { Store } from '../../../database/connection/db.ts'
import { CLAIM } from '../sql/claim.ts'
import { PEEK } from '../sql/peek.ts'
import type { RowJob } from './flight.ts'
import { arrayOf, groupBy } from './groups.ts'

/** A record of the claiming statement. `settled` counts the results that the run has for the row. */
export type ClaimedRow = {
  n: number
  run_id: string
  attempt: number
  stalled_claims: number
  tested_in: number | null
  settled: number
  retries: number
  state: unknown
  run_state: string
  /** The cap of the run. A run may get one when it is resumed. */
  cap_purse_id: string | null
  /** JSON text. If it is large, its size in the database as a number. */
  data: string | null
  cells: string | null
}
export type PeekedRow = Pick<ClaimedRow, 'n' | 'run_id' | 'data' | 'cells'>
/** The values of an unclaimed flight. */
export const UNCLAIMED = {
  attempt: 0,
  stalled_claims: 1,
  tested_in: null,
  settled: 0,
  retries: 0,
  state: null,
  run_state: 'running',
}
/** `reads`: whether the results that the row has are read. */
export type PeekingJob = RowJob & { reads: boolean }
type ClaimingJob = PeekingJob & { fresh: boolean; resumed: boolean }

/** Values that jobs of a run have in common, by the names of the parameters. */
type Shared<Job> = Record<string, (job: Job) => string | number | boolean | null>

const PEEKING: Shared<PeekingJob> = {
  orgs: ({ o }) => o,
  tickets: ({ t }) => t,
  runs: ({ run }) => run ?? null,
  reads: ({ reads }) => reads,
}
const CLAIMING: Shared<ClaimingJob> = {
  ...PEEKING,
  fresh: ({ fresh }) => fresh,
  resumed: ({ resumed }) => resumed,
}

/** Sends jobs in the order of their rows. `n` of an answer is the place among them, from 1. */
function createSender<Job extends RowJob, Row extends { n: number }>(
  store: Store,
  { name, text, names }: { name: string; text: string; names: readonly string[] },
  shared: Shared<Job>,
): (jobs: Job[]) => Promise<(Row | null)[]> {
  return async (jobs) => {
    const sorted = jobs.toSorted((one, other) => (one.r < other.r ? -1 : 1))
    const { firsts, places } = groupBy(sorted, Object.values(shared))
    const columns: Record<string, string> = {
      rows: arrayOf(sorted.map(({ r }) => r)),
      groups: arrayOf(places),
    }
    for (const [column, valueOf] of Object.entries(shared)) columns[column] = arrayOf(firsts.map(valueOf))
    const rows = await store.query<Row>({ name, text, values: names.map((one) => columns[one]) })
    const rowOf = new Map(rows.map((row) => [sorted[row.n - 1], row]))
    return jobs.map((job) => rowOf.get(job) ?? null)
  }
}

export const createPeeker = (store: Store): ((jobs: PeekingJob[]) => Promise<(PeekedRow | null)[]>) =>
  createSender(store, { name: 'engine-peek', ...PEEK }, PEEKING)

export const createClaimer = (store: Store): ((jobs: ClaimingJob[]) => Promise<(ClaimedRow | null)[]>) =>
  createSender(store, { name: 'engine-claim', ...CLAIM }, CLAIMING)
