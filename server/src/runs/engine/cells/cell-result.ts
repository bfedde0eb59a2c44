import type { Action } from '../../../catalog/define.ts'
import { MAX_PAUSE_MS } from '../../../catalog/http/reply.ts'
import type { Outcome, Provenance } from '../../../catalog/outcome.ts'
import { plural } from '../../../lib/plural.ts'
import { backoff } from '../../../lib/timing/backoff.ts'
import { MILLIS } from '../../../money/store/credits.ts'
import type { Flight, Parking, Position, SettledCell } from '../flights/flight.ts'
import { describeRefusal, stopperOf } from '../leases/refusal-words.ts'

/**
 * The consequence of running a cell: a result to store, another try later, or nothing yet, because the cells before it
 * have to be stored first.
 */
export type CellResult =
  | { kind: 'settle'; settlement: SettledCell; halts: boolean }
  | { kind: 'later'; parking: Parking }
  | { kind: 'not yet' }

/** Returns a result to store. The caller adds the action and the start. */
export function settleAs(
  result: Partial<SettledCell> & Pick<SettledCell, 'status'>,
  { halts }: { halts: boolean },
): CellResult {
  // All fields are set from the start: there are very many of these objects, and objects of one shape are made and read
  // faster.
  const settlement: SettledCell = {
    action: '',
    actionId: undefined,
    template: undefined,
    status: result.status,
    outputs: result.outputs,
    error: result.error,
    creditsMillis: result.creditsMillis ?? 0,
    cached: result.cached ?? false,
    provenance: result.provenance,
    startedAt: 0,
    provider: result.provider,
    billing: result.billing,
    cache: undefined,
    learns: result.learns,
  }
  return { kind: 'settle', settlement, halts }
}

/** Parks a cell that has not begun: the next worker that claims the row finds the cell as it is. */
export function parkAsIs({ retries, state }: Position, ms = 0): CellResult {
  return { kind: 'later', parking: { ms, retries, state } }
}

/** Returns the result of a cell that could not be run (D18). */
export function errorCell(error: string, mayContinue: boolean): CellResult {
  return settleAs({ status: 'error', error }, { halts: !mayContinue })
}

/**
 * Returns the result of a cell without credits. The row ends here, nothing is charged, and the error says what was
 * missing and how to go on (M6).
 */
export function outOfCredits(
  { facts, position: { refusal } }: Flight,
  action: Action,
  provenance?: Provenance[],
): CellResult {
  if (refusal === null) throw new Error(`${action.id} says that credits are missing, and none were refused`)
  const error = describeRefusal(refusal, action.name, facts)
  const stopped = {
    status: 'out_of_credits',
    error,
    billing: { stopped_by: stopperOf(refusal) },
    provenance,
  } as const
  return settleAs(stopped, { halts: true })
}

type Rules = { mayContinue: boolean; price: number }

/** Turns the outcome of an action into the cell's result. */
export function toCellResult(
  flight: Flight,
  action: Action,
  outcome: Outcome<Record<string, unknown>>,
  { mayContinue, price }: Rules,
): CellResult {
  const { retries, state } = flight.position
  const provenance = 'provenance' in outcome ? outcome.provenance : undefined
  switch (outcome.kind) {
    case 'done': {
      const creditsMillis = outcome.credits === undefined ? price : Math.round(outcome.credits * MILLIS)
      const { outputs, provider } = outcome
      return settleAs({ status: 'complete', outputs, creditsMillis, provenance, provider }, { halts: false })
    }
    case 'no_match': {
      const creditsMillis = Math.round((outcome.credits ?? 0) * MILLIS)
      const outputs = emptyOutputs(action)
      return settleAs({ status: 'complete', outputs, creditsMillis, provenance }, { halts: false })
    }
    case 'out_of_credits':
      return outOfCredits(flight, action, provenance)
    case 'condition_not_met':
      return settleAs({ status: 'condition_not_met' }, { halts: true })
    case 'failed':
      return settleAs({ status: 'failed', error: outcome.message, provenance }, { halts: !mayContinue })
    case 'unrunnable':
      return settleAs({ status: 'error', error: outcome.message, provenance }, { halts: !mayContinue })
    case 'retry': {
      if (retries < action.retries) {
        const ms = Math.min(MAX_PAUSE_MS, outcome.afterMs ?? backoff(retries))
        return { kind: 'later', parking: { ms, retries: retries + 1, state } }
      }
      const error = `${outcome.message} (after ${plural(retries + 1, 'attempt')})`
      return settleAs({ status: 'failed', error }, { halts: !mayContinue })
    }
    case 'wait':
      return {
        kind: 'later',
        parking: { ms: Math.min(MAX_PAUSE_MS, outcome.ms), retries, state: outcome.state },
      }
  }
}

function emptyOutputs(action: Action): Record<string, unknown> {
  return Object.fromEntries(Object.keys(action.outputs).map((name) => [name, null]))
}
