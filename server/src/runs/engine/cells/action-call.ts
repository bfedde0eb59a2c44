import type { Action } from '../../../catalog/define.ts'
import { type Outcome, unrunnable } from '../../../catalog/outcome.ts'
import { AppError, reasonOf } from '../../../lib/errors.ts'
import { backoff } from '../../../lib/timing/backoff.ts'
import { workAs } from '../../../lib/timing/thread-watch.ts'
import type { Engine, RowWalk } from '../engine-context.ts'
import { CallLimit } from './call-limit.ts'
import { CellContext, type CellWalk } from './cell-context.ts'
import { DatabaseUse, isOutage } from './database-use.ts'
import { stateOfCut } from './parked-state.ts'

const ENDING_GRACE_MS = 5000

/** Outcomes that no outage can have caused. */
const SUCCESSES = new Set<CallOutcome['kind']>(['done', 'no_match', 'wait', 'condition_not_met'])

type Inputs = Record<string, unknown>
type CallOutcome = Outcome<Record<string, unknown>>
type SlottedWalk = CellWalk & Pick<RowWalk, 'express' | 'endPriority'>

/** Runs an action: in a slot and under its timeout, or at once if it is pure. */
export async function callAction(
  engine: Engine,
  walk: SlottedWalk,
  action: Action,
  inputs: Inputs,
): Promise<CallOutcome> {
  if (action.pure) return runPure(engine, walk, action, inputs)
  walk.endPriority?.()
  const slots = walk.express ? engine.slots.express : engine.slots.bulk
  const { org_id } = walk.flight.facts
  const turn = slots.take(org_id)
  if (turn !== undefined) await turn
  try {
    return await new TimedCall(engine, walk, action).run(inputs)
  } finally {
    slots.giveBack(org_id)
  }
}

/**
 * The parts of a pure call. A pure action reaches the sandbox at most, and has no limit but that of its expressions.
 */
const PURE_PARTS = {
  action: { id: '', credits: 0 },
  limit: new CallLimit(),
  database: new DatabaseUse(),
}

/** Runs a pure action. Its outcome is mostly there at once. */
export function runPure(
  engine: Engine,
  walk: SlottedWalk,
  action: Action,
  inputs: Inputs,
): CallOutcome | Promise<CallOutcome> {
  try {
    const context = new CellContext(engine, walk, PURE_PARTS)
    const running = workAs(`action ${action.id}`, () => action.run({ inputs, context }))
    if (!(running instanceof Promise)) return running
    walk.endPriority?.()
    return running.catch((cause: unknown) => failUnexpectedly(engine, action, cause))
  } catch (cause) {
    return failUnexpectedly(engine, action, cause)
  }
}

function failUnexpectedly(engine: Engine, action: Action, cause: unknown): CallOutcome {
  engine.log.error({ err: cause, action: action.id }, 'an action threw')
  return { kind: 'failed', message: `the action failed unexpectedly: ${reasonOf(cause)}` }
}

/** A call of an action. It ends by its outcome, its timeout, or the end of the process. */
class TimedCall {
  readonly action: Action
  readonly limit = new CallLimit()
  readonly database = new DatabaseUse()
  readonly #engine: Engine
  readonly #walk: CellWalk
  /** The promise that the first of all ways to end resolves. */
  readonly #end = Promise.withResolvers<CallOutcome>()
  #grace: NodeJS.Timeout | undefined

  constructor(engine: Engine, walk: CellWalk, action: Action) {
    this.action = action
    this.#engine = engine
    this.#walk = walk
  }

  run(inputs: Inputs): CallOutcome | Promise<CallOutcome> {
    const { ending } = this.#engine
    // The process may have begun to end while the call waited.
    if (ending.hasBegun()) return { kind: 'wait', ms: 0, state: this.#walk.flight.position.state }
    try {
      const context = new CellContext(this.#engine, this.#walk, this)
      const running = workAs(`action ${this.action.id}`, () => this.action.run({ inputs, context }))
      if (!(running instanceof Promise)) return this.#judge(running)
      this.limit.start(this.action.timeoutSeconds * 1000, this)
      ending.watch(this)
      running.then(
        (outcome) => this.#finish(this.#judge(outcome)),
        (cause: unknown) => this.#finish(this.#explain(cause)),
      )
      return this.#end.promise
    } catch (cause) {
      return this.#explain(cause)
    }
  }

  /** Ends the call. What an action that was cut off returns later is ignored. */
  #finish(outcome: CallOutcome): void {
    this.limit.stop()
    clearTimeout(this.#grace)
    this.#engine.ending.unwatch(this)
    this.#end.resolve(outcome)
  }

  /** Parks the row if the database went away under the action, unless it succeeded all the same. */
  #judge(outcome: CallOutcome): CallOutcome {
    const { fault } = this.database
    return fault === undefined || SUCCESSES.has(outcome.kind) ? outcome : this.#park(reasonOf(fault))
  }

  #explain(cause: unknown): CallOutcome {
    // An outage says nothing about the cell, so it is neither a result nor a retry of the action.
    if (isOutage(cause)) return this.#park(reasonOf(cause))
    // A connection that exists and cannot be opened: a person has to mend it, as one that is missing (D18).
    if (cause instanceof AppError && cause.code === 'SECRET_UNREADABLE') return unrunnable(cause.message)
    return failUnexpectedly(this.#engine, this.action, cause)
  }

  onLimit(): void {
    const { timeoutSeconds } = this.action
    const hangs = this.database.hangs(timeoutSeconds * 1000)
    this.#cutOff(
      hangs
        ? this.#park('a statement hangs')
        : { kind: 'failed', message: `no answer within ${timeoutSeconds} s` },
    )
  }

  /** Waits for short cells when the process ends. A long one is parked, to be run again by another process. */
  onEnding(): void {
    this.#grace = setTimeout(() => {
      this.#cutOff({ kind: 'wait', ms: 0, state: stateOfCut(this.#walk.flight.position) })
    }, ENDING_GRACE_MS)
  }

  #cutOff(outcome: CallOutcome): void {
    this.#finish(outcome)
    this.limit.abort()
  }

  #park(cause: string): CallOutcome {
    this.#engine.log.warn({ cause, action: this.action.id }, 'the database went away under an action')
    return { kind: 'wait', ms: backoff(0), state: stateOfCut(this.#walk.flight.position) }
  }
}
