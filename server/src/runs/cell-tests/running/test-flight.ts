import { z } from 'zod'
import type { ActionInstance, Definition } from '../../../catalog/chain/definition.ts'
import { parseLossless } from '../../../lib/json/lossless-json.ts'
import type { Flight, RunFacts } from '../../engine/flights/flight.ts'

/** The payload of the job that runs a test. */
export const TestJob = z.object({ org: z.string(), test: z.string(), ticket: z.int() })
export type TestJob = z.infer<typeof TestJob>

/** A test as a worker claims it. */
export type ClaimedTest = Pick<
  RunFacts,
  | 'sheet_id'
  | 'revision'
  | 'member'
  | 'key_id'
  | 'price_version'
  | 'cap_purse_id'
  | 'workflow_id'
  | 'cache_enabled'
  | 'continue_on_fail'
  | 'fresh_since'
> & {
  attempt: number
  stalled: number
  retries: number
  state: unknown
  instance: string
  row_id: string
  /** JSON text, or the size of large inputs. Null if the row was deleted. */
  data: string | null
  cells: string | null
}

export const readInstance = (text: string): ActionInstance => parseLossless(text) as ActionInstance

/** Returns the definition with the action as it is tested. */
export function withInstance(definition: Definition, instance: ActionInstance): Definition {
  const { actions } = definition
  const isInChain = actions.some(({ id }) => id === instance.id)
  const tested = isInChain
    ? actions.map((one) => (one.id === instance.id ? instance : one))
    : [...actions, instance]
  return { ...definition, actions: tested }
}

/**
 * Returns a test as a flight of a run with one row and one action: what runs the cells of a run runs it too. The run does not
 * exist; its id is that of the test.
 */
export function toFlight(job: TestJob, test: ClaimedTest, { id }: ActionInstance): Flight {
  const { sheet_id, revision, member, key_id, price_version, cap_purse_id, workflow_id } = test
  const { cache_enabled, continue_on_fail, fresh_since, row_id, data, cells } = test
  const isRead = data === null || data.startsWith('{')
  return {
    facts: {
      org_id: job.org,
      run_id: job.test,
      sheet_id,
      revision,
      actions: [id],
      cache_enabled,
      fresh_since,
      continue_on_fail,
      hops: 0,
      key_id,
      trigger: 'test',
      workflow_id,
      member,
      price_version,
      cap_purse_id,
    },
    row: { id: row_id, data: isRead ? data : null, unreadBytes: isRead ? 0 : Number(data), cells },
    fence: { run: job.test, ticket: job.ticket, attempt: test.attempt },
    position: {
      action: id,
      retries: test.retries,
      heldMillis: 0,
      reservation: null,
      refusal: null,
      state: test.state,
      stalledClaims: test.stalled,
      isTakenOver: test.stalled > 1,
      testedIn: null,
      hasFailed: false,
    },
    runState: 'running',
  }
}
