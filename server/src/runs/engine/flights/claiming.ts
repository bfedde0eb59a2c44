import type { Store } from '../../../database/connection/db.ts'
import { claimStatement } from '../sql/claim.ts'
import type { NamedParameters } from '../sql/named-parameters.ts'
import { peekStatement } from '../sql/peek.ts'
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

type JobStatement = NamedParameters & { name: string }
type JobStatements = Record<'alike' | 'mixed', JobStatement>

const statementsOf = (name: string, textOf: (alike: boolean) => NamedParameters): JobStatements => ({
  alike: { name: `${name}-alike`, ...textOf(true) },
  mixed: { name, ...textOf(false) },
})

/** An answer of the database. Null stands for the value that most rows have, and for the run that the job names. */
type Answer<Row> = { [Field in keyof Row]: Row[Field] | null } & { n: number }

const runOf = ({ run_id }: { run_id: string | null }, { run }: RowJob): string => run_id ?? run ?? ''

function toPeeked({ n, data, cells, ...row }: Answer<PeekedRow>, job: RowJob): PeekedRow {
  return { n, run_id: runOf(row, job), data, cells }
}

function toClaimed(row: Answer<ClaimedRow>, job: RowJob): ClaimedRow {
  const { n, tested_in, state, cap_purse_id, data, cells } = row
  return {
    n,
    run_id: runOf(row, job),
    attempt: row.attempt ?? 1,
    stalled_claims: row.stalled_claims ?? UNCLAIMED.stalled_claims,
    tested_in,
    settled: row.settled ?? UNCLAIMED.settled,
    retries: row.retries ?? UNCLAIMED.retries,
    state,
    run_state: row.run_state ?? UNCLAIMED.run_state,
    cap_purse_id,
    data,
    cells,
  }
}

/** Sends jobs in the order of their rows. `n` of an answer is the place among them, from 1. */
function createSender<Job extends RowJob, Row extends { n: number }>(
  store: Store,
  statements: JobStatements,
  shared: Shared<Job>,
  toRow: (answer: Answer<Row>, job: Job) => Row,
): (jobs: Job[]) => Promise<(Row | null)[]> {
  const grouped = Object.values(shared)
  return async (jobs) => {
    const sorted = jobs.toSorted((one, other) => (one.r < other.r ? -1 : 1))
    const groups = groupBy(sorted, grouped)
    const { name, text, names } = statements[groups.alike ? 'alike' : 'mixed']
    const columns: Record<string, string> = {
      rows: arrayOf(sorted.map(({ r }) => r)),
      groups: arrayOf(groups.places),
    }
    for (const [column, valueOf] of Object.entries(shared))
      columns[column] = arrayOf(groups.firsts.map(valueOf))
    const values = names.map((one) => columns[one])
    const answers = new Map<Job, Row>()
    for (const answer of await store.query<Answer<Row>>({ name, text, values })) {
      const job = sorted[answer.n - 1]
      if (job !== undefined) answers.set(job, toRow(answer, job))
    }
    return jobs.map((job) => answers.get(job) ?? null)
  }
}

const PEEK = statementsOf('engine-peek', peekStatement)
const CLAIM = statementsOf('engine-claim', claimStatement)

export const createPeeker = (store: Store): ((jobs: PeekingJob[]) => Promise<(PeekedRow | null)[]>) =>
  createSender(store, PEEK, PEEKING, toPeeked)

export const createClaimer = (store: Store): ((jobs: ClaimingJob[]) => Promise<(ClaimedRow | null)[]>) =>
  createSender(store, CLAIM, CLAIMING, toClaimed)
