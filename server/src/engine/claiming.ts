import type { Store } from '../store/connection/db.ts'
import type { Flight, RowJob, RunFacts } from './flight-store.ts'
import { CLAIM } from './sql/claim.ts'
import { LOOK } from './sql/peek.ts'

export type ClaimedRow = Omit<Flight, keyof RunFacts | 'row_id' | 'ticket' | 'action'> & {
  n: number
  run_id: string
  settled: number
}
export type SeenRow = Pick<ClaimedRow, 'n' | 'run_id' | 'data' | 'cells'>
/** Of a flight that nobody has taken up. */
export const UNTAKEN = {
  attempt: 0,
  strikes: 1,
  settled: 0,
  retries: 0,
  held_millis: 0,
  state: null,
  run_state: 'running',
}

type FreshJob = RowJob & { fresh: boolean }

type TakingStatement<Item> = {
  name: string
  text: string
  columns: ((item: Item) => string | number | boolean)[]
}

const LOOKING: TakingStatement<RowJob> = {
  name: 'engine-look',
  text: LOOK,
  columns: [({ o }) => o, ({ r }) => r, ({ t }) => t],
}
const CLAIMING: TakingStatement<FreshJob> = {
  name: 'engine-claim',
  text: CLAIM,
  columns: [...LOOKING.columns, ({ fresh }) => fresh],
}

/** Sends jobs as columns, in the order of their rows. `n` of an answer is the place among them, from 1. */
function createTaker<Item extends RowJob, Row extends { n: number }>(
  store: Store,
  { name, text, columns }: TakingStatement<Item>,
): (jobs: Item[]) => Promise<(Row | null)[]> {
  return async (jobs) => {
    const sorted = jobs.toSorted((one, other) => (one.r < other.r ? -1 : 1))
    const values = columns.map((column) => `{${sorted.map(column).join(',')}}`)
    const answers = new Map<Item | undefined, Row>()
    for (const row of await store.query<Row>({ name, text, values })) answers.set(sorted[row.n - 1], row)
    return jobs.map((job) => answers.get(job) ?? null)
  }
}

export const createClaimer = (store: Store): ((jobs: FreshJob[]) => Promise<(ClaimedRow | null)[]>) =>
  createTaker(store, CLAIMING)

export const createLooker = (store: Store): ((jobs: RowJob[]) => Promise<(SeenRow | null)[]>) =>
  createTaker(store, LOOKING)
