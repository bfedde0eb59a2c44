import type { Action } from '../../../catalog/define.ts'
import { type Outcome, unrunnable } from '../../../catalog/outcome.ts'
import { AppError, reasonOf } from '../../../lib/errors.ts'
import { backoff } from '../../../lib/timing/backoff.ts'
import type { Slots } from '../../../lib/timing/slots.ts'
import { workAs } from '../../../lib/timing/thread-watch.ts'
import type { Engine, RowWalk } from '../engine-context.ts'
import type { Flight } from '../flights/flight.ts'
import { CallLimit } from './call-limit.ts'
import { CellContext, type CellWalk } from './cell-context.ts'
import { stateOfCut } from './cut-off.ts'
import { DatabaseUse, isOutage } from './database-use.ts'

const ENDING_GRACE_MS = 5000

/** Outcomes that no outage can have caused. */
const SUCCESSES = new Set<CallKind>(['done', 'no_match', 'wait', 'condition_not_met'])
type CallKind = CallOutcome['kind']

type Inputs = Record<string, unknown>

type CallOutcome = Outcome<Record<string, unknown>>
type SlottedWalk = CellWalk & Pick<RowWalk, 'express' | 'endPriority'>

/** Runs an action: in a slot, or without one if it is pure. The outcome of a pure action is mostly there at once. */
export function callAction(
  engine: Engine,
  walk: SlottedWalk,
  action: Action,
  inputs: Inputs,
): CallOutcome | Promise<CallOutcome> {
  if (action.pure) return runPure(engine, walk, action, inputs)
  return runInSlot(engine, walk, action, inputs)
}

/**
 * The parts of a pure call. A pure action reaches the sandbox at most, and has no limit but that of its expressions.
 */
const PURE_PARTS = {
  action: { id: '', credits: 0 },
  limit: new CallLimit(),
  database: new DatabaseUse(),
}

function runPure(
  engine: Engine,
  walk: CellWalk & Pick<RowWalk, 'endPriority'>,
  action: Action,
  inputs: Inputs,
): CallOutcome | Promise<CallOutcome> {
  try {
    const context = new CellContext(engine, walk, PURE_PARTS)
    const running = workAs(`action ${action.id}`, () => action.run({ inputs, context }))
    if (!(running instanceof Promise)) return running
    walk.endPriority?.()
    return catchUnexpected(running, engine, action)
  } catch (cause) {
    return failUnexpectedly(engine, action, cause)
  }
}

/**
 * Runs an action under its timeout. If the database is not available the row is parked, whatever the action returns.
 * Returns without a promise if a slot is free and the action answers at once.
 */
function runInSlot(
  engine: Engine,
  walk: SlottedWalk,
  action: Action,
  inputs: Inputs,
): CallOutcome | Promise<CallOutcome> {
  walk.endPriority?.()
  const slots = walk.express ? engine.slots.express : engine.slots.bulk
  const turn = slots.take(walk.flight.facts.org_id)
  const call = new TimedCall(engine, walk, action, slots)
  return turn === undefined ? call.run(inputs) : runAfter(turn, call, inputs)
}

function runAfter(turn: Promise<void>, call: TimedCall, inputs: Inputs): Promise<CallOutcome> {
  return turn.then(() => call.run(inputs))
}

function catchUnexpected(
  running: Promise<CallOutcome>,
  engine: Engine,
  action: Action,
): Promise<CallOutcome> {
  return running.catch((cause: unknown) => failUnexpectedly(engine, action, cause))
}

function failUnexpectedly(engine: Engine, action: Action, cause: unknown): CallOutcome {
  engine.log.error({ err: cause, action: action.id }, 'an action threw')
  return { kind: 'failed', message: `the action failed unexpectedly: ${reasonOf(cause)}` }
}

/**
 * A call in its slot. It ends by its outcome, its timeout, or the end of the process. One is made for every cell, so it
 * is its own listener.
 */
class TimedCall {
  readonly action: Action
  readonly limit = new CallLimit()
  readonly database = new DatabaseUse()
  readonly #engine: Engine
  readonly #walk: SlottedWalk
  readonly #slots: Slots
  /** The promise that every way of ending resolves. */
  #end: PromiseWithResolvers<CallOutcome> | undefined
  #grace: NodeJS.Timeout | undefined

  constructor(engine: Engine, walk: SlottedWalk, action: Action, slots: Slots) {
    this.action = action
    this.#engine = engine
    this.#walk = walk
    this.#slots = slots
  }

  run(inputs: Inputs): CallOutcome | Promise<CallOutcome> {
    // The process may have begun to end while the call waited.
    if (this.#engine.ending.hasBegun())
      return this.#leave({ kind: 'wait', ms: 0, state: this.#position.state })
    try {
      const context = new CellContext(this.#engine, this.#walk, this)
      const running = workAs(`action ${this.action.id}`, () => this.action.run({ inputs, context }))
      return running instanceof Promise ? this.#watch(running) : this.#leave(running)
    } catch (cause) {
      return this.#leave(this.#explain(cause))
    }
  }

  #watch(running: Promise<CallOutcome>): Promise<CallOutcome> {
    const end = Promise.withResolvers<CallOutcome>()
    this.#end = end
    this.limit.start(this.action.timeoutSeconds * 1000, this)
    this.#engine.ending.watch(this)
    running.then(
      (outcome) => this.#finish(this.#judge(outcome)),
      (cause: unknown) => this.#finish(this.#explain(cause)),
    )
    return end.promise
  }

  onLimit(): void {
    const { timeoutSeconds } = this.action
    const hangs = this.database.hangs(timeoutSeconds * 1000)
    this.#finish(
      hangs
        ? this.#park('a statement hangs')
        : { kind: 'failed', message: `no answer within ${timeoutSeconds} s` },
    )
    this.limit.abort()
  }

  /** Waits for short cells when the process ends. A long one is parked, to be run again by another process. */
  onEnding(): void {
    this.#grace = setTimeout(() => {
      this.#finish({ kind: 'wait', ms: 0, state: stateOfCut(this.#position) })
      this.limit.abort()
    }, ENDING_GRACE_MS)
  }

  /** Ends the call by its first outcome. What an action returns after its timeout is ignored. */
  #finish(outcome: CallOutcome): void {
    const end = this.#end
    if (end === undefined) return
    this.#end = undefined
    this.limit.stop()
    clearTimeout(this.#grace)
    this.#engine.ending.unwatch(this)
    end.resolve(this.#leave(outcome))
  }

  #leave(outcome: CallOutcome): CallOutcome {
    this.#slots.giveBack(this.#walk.flight.facts.org_id)
    return outcome
  }

  /**
   * Returns the outcome, or parks the row after an outage: what an action makes of an outage says nothing about the
   * cell.
   */
  #judge(outcome: CallOutcome): CallOutcome {
    const { fault } = this.database
    return fault !== undefined && !SUCCESSES.has(outcome.kind) ? this.#park(reasonOf(fault)) : outcome
  }

  #explain(cause: unknown): CallOutcome {
    // An outage says nothing about the cell, so it is neither a result nor a retry of the action.
    if (isOutage(cause)) return this.#park(reasonOf(cause))
    // A connection that exists and cannot be opened: a person has to mend it, as one that is missing (D18).
    if (cause instanceof AppError && cause.code === 'SECRET_UNREADABLE') return unrunnable(cause.message)
    return failUnexpectedly(this.#engine, this.action, cause)
  }

  #park(cause: string): CallOutcome {
    this.#engine.log.warn({ cause, action: this.action.id }, 'the database went away under an action')
    return { kind: 'wait', ms: backoff(0), state: stateOfCut(this.#position) }
  }

  get #position(): Flight['position'] {
    return this.#walk.flight.position
  }
}
