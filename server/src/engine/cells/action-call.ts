import type { Action } from '../../catalog/define.ts'
import { type Outcome, unrunnable } from '../../catalog/outcome.ts'
import { AppError, reasonOf } from '../../lib/errors.ts'
import { backoff } from '../../lib/timing/backoff.ts'
import type { Engine, RowWalk } from '../engine-context.ts'
import type { Flight } from '../flights/flight.ts'
import { CallLimit } from './call-limit.ts'
import { CellContext, type CellWalk } from './cell-context.ts'
import { stateOfCut } from './cut-off.ts'
import { DatabaseUse, isOutage } from './database-use.ts'

const ENDING_GRACE_MS = 5000

/** Outcomes that an outage has not led to. */
const SUCCESSES = new Set<CallKind>(['done', 'no_match', 'wait', 'condition_not_met'])
type CallKind = CallOutcome['kind']

type Inputs = Record<string, unknown>

type CallOutcome = Outcome<Record<string, unknown>>
type SlottedWalk = CellWalk & Pick<RowWalk, 'express' | 'endPriority'>

/** Runs an action, in a slot unless it is pure: then its outcome is mostly there at once. */
export function callAction(
  engine: Engine,
  walk: SlottedWalk,
  action: Action,
  inputs: Inputs,
): CallOutcome | Promise<CallOutcome> {
  if (action.pure) return runPure(engine, walk, action, inputs)
  return runInSlot(engine, walk, action, inputs)
}

/** A pure action reaches the sandbox at most: it is under no other limit than that of its expressions. */
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
    const running = action.run({ inputs, context: new CellContext(engine, walk, PURE_PARTS) })
    if (!(running instanceof Promise)) return running
    walk.endPriority?.()
    return running.catch((cause: unknown) => failUnexpectedly(engine, action, cause))
  } catch (cause) {
    return failUnexpectedly(engine, action, cause)
  }
}

/** Runs an action under its timeout. The row is parked when the database is not available, whatever the action says then. */
async function runInSlot(
  engine: Engine,
  walk: SlottedWalk,
  action: Action,
  inputs: Inputs,
): Promise<CallOutcome> {
  const { flight, express } = walk
  walk.endPriority?.()
  const slots = express ? engine.slots.express : engine.slots.bulk
  const turn = slots.take(flight.facts.org_id)
  if (turn !== undefined) await turn
  let timed: TimedCall | undefined
  try {
    // The process may have begun to end while it waited.
    if (engine.ending.hasBegun()) return { kind: 'wait', ms: 0, state: flight.position.state }
    const call = new TimedCall(engine, flight, action)
    const running = action.run({ inputs, context: new CellContext(engine, walk, call) })
    if (!(running instanceof Promise)) return running
    timed = call
    return concludeInTime(call, await timed.watch(running))
  } catch (cause) {
    // An outage says nothing about the cell, so it is neither a result nor a retry of the action's.
    if (isOutage(cause)) return parkForOutage(engine, flight, action, reasonOf(cause))
    // A connection that is there and cannot be opened: somebody has to mend it, as one that is missing (D18).
    if (cause instanceof AppError && cause.code === 'SECRET_UNREADABLE') return unrunnable(cause.message)
    return failUnexpectedly(engine, action, cause)
  } finally {
    timed?.stop()
    slots.giveBack(flight.facts.org_id)
  }
}

function concludeInTime({ engine, flight, action, limit, database }: TimedCall, end: CallEnd): CallOutcome {
  if (end === 'too late') {
    const hangs = database.hangs(action.timeoutSeconds * 1000)
    limit.abort()
    if (hangs) return parkForOutage(engine, flight, action, 'a statement hangs')
    return { kind: 'failed', message: `no answer within ${action.timeoutSeconds} s` }
  }
  if (database.fault !== undefined && !SUCCESSES.has(end.kind))
    return parkForOutage(engine, flight, action, reasonOf(database.fault))
  return end
}

function failUnexpectedly(engine: Engine, action: Action, cause: unknown): CallOutcome {
  engine.log.error({ err: cause, action: action.id }, 'an action threw')
  return { kind: 'failed', message: `the action failed unexpectedly: ${reasonOf(cause)}` }
}

function parkForOutage(engine: Engine, flight: Flight, action: Action, cause: string): CallOutcome {
  engine.log.warn({ cause, action: action.id }, 'the database went away under an action')
  return { kind: 'wait', ms: backoff(0), state: stateOfCut(flight.position) }
}

type CallEnd = CallOutcome | 'too late'

/** A call that ends when its time is over, or the process. One is made for every cell, so it listens itself. */
class TimedCall {
  readonly engine: Engine
  readonly flight: Flight
  readonly action: Action
  readonly limit = new CallLimit()
  readonly database = new DatabaseUse()
  #end: PromiseWithResolvers<CallEnd> | undefined
  #grace: NodeJS.Timeout | undefined

  constructor(engine: Engine, flight: Flight, action: Action) {
    this.engine = engine
    this.flight = flight
    this.action = action
  }

  /** One promise for all ways in which the call may end. */
  watch(running: Promise<CallOutcome>): Promise<CallEnd> {
    const end = (this.#end = Promise.withResolvers<CallEnd>())
    this.limit.start(this.action.timeoutSeconds * 1000, this)
    this.engine.ending.watch(this)
    running.then(end.resolve, end.reject)
    return end.promise
  }

  onLimit(): void {
    this.#end?.resolve('too late')
  }

  /** A process that ends waits for short cells; a long one is parked, to be run again by another. */
  onEnding(): void {
    this.#grace = setTimeout(() => {
      this.limit.abort()
      this.#end?.resolve({ kind: 'wait', ms: 0, state: stateOfCut(this.flight.position) })
    }, ENDING_GRACE_MS)
  }

  stop(): void {
    this.limit.stop()
    clearTimeout(this.#grace)
    this.engine.ending.unwatch(this)
  }
}
