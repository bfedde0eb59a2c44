import type { Action } from '../catalog/define.ts'
import type { Outcome } from '../catalog/outcome.ts'
import { reasonOf } from '../lib/errors.ts'
import { CellContext, LazyAbort } from './cell-context.ts'
import type { Flight } from './flight-store.ts'
import type { Leg } from './step.ts'
import type { Engine } from './walk.ts'

const ENDING_GRACE_MS = 5000

type Inputs = Record<string, unknown>

type Answer = Outcome<Record<string, unknown>> | 'fence lost'

/** Runs an action, in a slot unless it is pure. `fence lost` when credits were asked for and the row is somebody else's now. */
export async function callAction(
  engine: Engine,
  { flight, express, leave }: Pick<Leg, 'flight' | 'express' | 'leave'>,
  action: Action,
  inputs: Inputs,
): Promise<Answer> {
  if (action.pure) return runAction(engine, flight, action, inputs)
  leave?.()
  const slots = express ? engine.slots.express : engine.slots.mass
  await slots.take()
  try {
    // The process may have begun to end while it waited.
    if (engine.ending.hasBegun()) return { kind: 'wait', ms: 0, state: flight.state }
    return await runAction(engine, flight, action, inputs)
  } finally {
    slots.giveBack()
  }
}

/** Runs an action under its timeout. */
async function runAction(engine: Engine, flight: Flight, action: Action, inputs: Inputs): Promise<Answer> {
  const limit = new LazyAbort()
  const cut = Promise.withResolvers<Answer>()
  const context = new CellContext(engine, flight, limit, () => cut.resolve('fence lost'))
  try {
    const answer = action.run({ inputs, context })
    if (!(answer instanceof Promise)) return answer
    return await inTime(engine, { flight, action, limit, cut }, answer)
  } catch (cause) {
    engine.log.error({ err: cause, action: action.id }, 'an action threw')
    return { kind: 'failed', message: `the action failed unexpectedly: ${reasonOf(cause)}` }
  }
}

type Call = { flight: Flight; action: Action; limit: LazyAbort; cut: PromiseWithResolvers<Answer> }

async function inTime(
  engine: Engine,
  { flight, action, limit, cut }: Call,
  answer: Promise<Answer>,
): Promise<Answer> {
  const timer = setTimeout(() => {
    limit.abort()
    cut.resolve({ kind: 'failed', message: `no answer within ${action.timeoutSeconds} s` })
  }, action.timeoutSeconds * 1000)
  // A process that ends waits for short cells; a long one is put down, to be run again by another.
  let grace: NodeJS.Timeout | undefined
  const unwatch = engine.ending.watch(() => {
    grace = setTimeout(() => {
      limit.abort()
      cut.resolve({ kind: 'wait', ms: 0, state: flight.state })
    }, ENDING_GRACE_MS)
  })
  try {
    return await Promise.race([answer, cut.promise])
  } finally {
    clearTimeout(timer)
    clearTimeout(grace)
    unwatch()
  }
}
