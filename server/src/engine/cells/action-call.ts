import type { Action } from '../../catalog/define.ts'
import type { Outcome } from '../../catalog/outcome.ts'
import { reasonOf } from '../../lib/errors.ts'
import { backoff } from '../../lib/timing/backoff.ts'
import { isUnavailable } from '../../store/connection/db.ts'
import { isFromDatabase } from '../../store/connection/faults.ts'
import type { Engine, RowWalk } from '../engine-context.ts'
import type { Flight } from '../flights/flight.ts'
import { CallLimit } from './call-limit.ts'
import { CellContext } from './cell-context.ts'

const ENDING_GRACE_MS = 5000

type Inputs = Record<string, unknown>

type CallOutcome = Outcome<Record<string, unknown>> | 'fence lost'

/** Runs an action, in a slot unless it is pure. `fence lost` when credits were asked for and the row is somebody else's now. */
export async function callAction(
  engine: Engine,
  { flight, express, endPriority }: Pick<RowWalk, 'flight' | 'express' | 'endPriority'>,
  action: Action,
  inputs: Inputs,
): Promise<CallOutcome> {
  if (action.pure) return runAction(engine, flight, action, inputs)
  endPriority?.()
  const slots = express ? engine.slots.express : engine.slots.bulk
  const owner = flight.facts.org_id
  await slots.take(owner)
  try {
    // The process may have begun to end while it waited.
    if (engine.ending.hasBegun()) return { kind: 'wait', ms: 0, state: flight.position.state }
    return await runAction(engine, flight, action, inputs)
  } finally {
    slots.giveBack(owner)
  }
}

/** Runs an action under its timeout. The row is parked when the database is not available. */
async function runAction(
  engine: Engine,
  flight: Flight,
  action: Action,
  inputs: Inputs,
): Promise<CallOutcome> {
  const limit = new CallLimit()
  const cut = Promise.withResolvers<CallOutcome>()
  const context = new CellContext(engine, flight, limit, () => cut.resolve('fence lost'))
  try {
    const outcome = action.run({ inputs, context })
    if (!(outcome instanceof Promise)) return outcome
    return await inTime(engine, { flight, action, limit, cut }, outcome)
  } catch (cause) {
    // An outage says nothing about the cell, so it is neither a result nor a retry of the action's.
    if (isUnavailable(cause) && isFromDatabase(cause)) {
      engine.log.warn({ cause: reasonOf(cause), action: action.id }, 'the database went away under an action')
      return { kind: 'wait', ms: backoff(0), state: flight.position.state }
    }
    engine.log.error({ err: cause, action: action.id }, 'an action threw')
    return { kind: 'failed', message: `the action failed unexpectedly: ${reasonOf(cause)}` }
  }
}

type Call = { flight: Flight; action: Action; limit: CallLimit; cut: PromiseWithResolvers<CallOutcome> }

async function inTime(
  engine: Engine,
  { flight, action, limit, cut }: Call,
  outcome: Promise<CallOutcome>,
): Promise<CallOutcome> {
  limit.start(action.timeoutSeconds * 1000, () => {
    limit.abort()
    cut.resolve({ kind: 'failed', message: `no answer within ${action.timeoutSeconds} s` })
  })
  // A process that ends waits for short cells; a long one is parked, to be run again by another.
  let grace: NodeJS.Timeout | undefined
  const unwatch = engine.ending.watch(() => {
    grace = setTimeout(() => {
      limit.abort()
      cut.resolve({ kind: 'wait', ms: 0, state: flight.position.state })
    }, ENDING_GRACE_MS)
  })
  try {
    return await Promise.race([outcome, cut.promise])
  } finally {
    limit.stop()
    clearTimeout(grace)
    unwatch()
  }
}
