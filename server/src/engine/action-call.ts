import type { Action, ActionContext } from '../catalog/define.ts'
import type { Outcome } from '../catalog/outcome.ts'
import { reasonOf } from '../lib/errors.ts'
import { MILLIS } from '../store/credits.ts'
import type { Flight } from './desk.ts'
import type { Engine, Leg } from './walk.ts'

const ENDING_GRACE_MS = 5000

type Inputs = Record<string, unknown>

type Answer = Outcome<Record<string, unknown>> | 'fence lost'

/** Runs an action under its timeout. `fence lost` when credits were asked for and the row is somebody else's now. */
export async function callAction(
  engine: Engine,
  { flight, lent }: Pick<Leg, 'flight' | 'lent'>,
  action: Action,
  inputs: Inputs,
): Promise<Answer> {
  const limit = new LazyAbort()
  const cut = Promise.withResolvers<Answer>()
  const context: ActionContext = {
    ...lent,
    get signal() {
      return limit.signal
    },
    now: () => new Date(),
    state: flight.state ?? undefined,
    sheets: engine.sheetsFor(flight),
    reserve: async (credits) => {
      const answer = await holdCredits(engine, flight, Math.round(credits * MILLIS))
      if (answer === 'lost') cut.resolve('fence lost')
      return answer === 'held'
    },
  }
  try {
    const answer = action.run({ inputs, context })
    // Most actions compute; only those that wait can be late.
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

/** Sets credits aside until the cell has `price` of them in all. */
export async function holdCredits(
  engine: Engine,
  flight: Flight,
  price: number,
): Promise<'held' | 'no_credits' | 'lost'> {
  const more = price - flight.held_millis
  if (more <= 0) return 'held'
  const answer = await engine.desk.reserve(flight, more)
  if (answer === 'held') flight.held_millis = price
  return answer
}

/** Most actions never look at their signal; making one costs more than they do. */
class LazyAbort {
  #controller: AbortController | undefined
  #aborted = false

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#aborted) this.#controller.abort()
    return this.#controller.signal
  }

  abort(): void {
    this.#aborted = true
    this.#controller?.abort()
  }
}
