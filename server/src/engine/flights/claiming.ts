import type { Store } from '../../store/connection/db.ts'
import { CLAIM } from '../sql/claim.ts'
import { PEEK } from '../sql/peek.ts'
import type { RowJob } from './flight.ts'

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
  /** A run may get a cap when it is resumed. */
  cap_purse_id: string | null
  /** JSON text, or a number: what large ones take in the database. */
  data: string | null
  cells: string | null
}
export type PeekedRow = Pick<ClaimedRow, 'n' | 'run_id' | 'data' | 'cells'>
/** Of a flight that nobody has claimed. */
export const UNCLAIMED = {
  attempt: 0,
  stalled_claims: 1,
  tested_in: null,
  settled: 0,
  retries: 0,
  state: null,
  run_state: 'running',
}

type ClaimingJob = RowJob & { fresh: boolean; resumed: boolean }

type JobStatement<Item> = {
  name: string
  text: string
  columns: ((item: Item) => string | number | boolean)[]
}

const PEEKING: JobStatement<RowJob> = {
  name: 'engine-peek',
  text: PEEK,
  columns: [({ o }) => o, ({ r }) => r, ({ t }) => t],
}
const CLAIMING: JobStatement<ClaimingJob> = {
  name: 'engine-claim',
  text: CLAIM,
  columns: [...PEEKING.columns, ({ fresh }) => fresh, ({ resumed }) => resumed],
}

/** Sends jobs as columns, in the order of their rows. `n` of an answer is the place among them, from 1. */
function createSender<Item extends RowJob, Row extends { n: number }>(
  store: Store,
  { name, text, columns }: JobStatement<Item>,
): (jobs: Item[]) => Promise<(Row | null)[]> {
  return async (jobs) => {
    const sorted = jobs.toSorted((one, other) => (one.r < other.r ? -1 : 1))
    const values = columns.map((column) => `{${sorted.map(column).join(',')}}`)
    const answers = new Map<Item | undefined, Row>()
    for (const row of await store.query<Row>({ name, text, values })) answers.set(sorted[row.n - 1], row)
    return jobs.map((job) => answers.get(job) ?? null)
  }
}

export const createClaimer = (store: Store): ((jobs: ClaimingJob[]) => Promise<(ClaimedRow | null)[]>) =>
  createSender(store, CLAIMING)

export const createPeeker = (store: Store): ((jobs: RowJob[]) => Promise<(PeekedRow | null)[]>) =>
  createSender(store, PEEKING)
