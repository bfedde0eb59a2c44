import type { ActionInstance } from '../../../catalog/chain/definition.ts'
import type { Action } from '../../../catalog/define.ts'
import { learnsFromRuns } from '../../../catalog/describe.ts'
import type { Outcome, Provenance } from '../../../catalog/outcome.ts'
import { isLargerJson } from '../../../lib/json/json-size.ts'
import type { StoredJson } from '../../../lib/json/stored-json.ts'
import { redact } from '../../../lib/security/redaction.ts'
import { MILLIS } from '../../../money/store/credits.ts'
import type { Engine, RowWalk } from '../engine-context.ts'
import { callAction } from './action-call.ts'
import { reserveCredits, type ReserveAnswer } from './cell-context.ts'
import { type CellResult, outOfCredits, parkAsIs, toCellResult } from './cell-result.ts'
import { maskOf } from './environment-mask.ts'
import { LARGE_OUTPUTS, prepareLarge, TOO_LARGE } from './large-outputs.ts'

/** The action of a cell. */
export type Found = { instance: ActionInstance; action: Action; mayContinue: boolean }

/** A cell whose action is to be called. */
export type CellCall = {
  engine: Engine
  walk: RowWalk
  found: Found
  inputs: Record<string, unknown>
  /** The key under which the result is looked for and stored, or null if it is not. */
  cacheKey: string | null
}

/** Reserves the price and calls the action. A free and pure action returns at once, without waiting. */
export function reserveAndCall(call: CellCall): CellResult | Promise<CellResult> {
  const { engine, walk, found } = call
  const { price } = factsOf(found.action)
  if (price === 0 || found.action.paysModel) return callAndConclude(call)
  const held = reserveCredits(engine, walk.flight, price)
  return held instanceof Promise ? callWhenReserved(held, call) : callIfReserved(held, call)
}

function callWhenReserved(holding: Promise<ReserveAnswer>, call: CellCall): Promise<CellResult> {
  return holding.then((held) => callIfReserved(held, call))
}

function callIfReserved(held: ReserveAnswer, call: CellCall): CellResult | Promise<CellResult> {
  const { engine, walk, found } = call
  if (held === 'short') return parkAsIs(walk.flight.position, engine.reservations.waitMs())
  if (held === 'refused') return outOfCredits(walk.flight, found.action)
  return callAndConclude(call)
}

type ActionOutcome = Outcome<Record<string, unknown>>

function callAndConclude(call: CellCall): CellResult | Promise<CellResult> {
  const { engine, walk, found, inputs, cacheKey } = call
  const { action } = found
  if (!action.pure || (cacheKey !== null && factsOf(action).price > 0)) walk.hasCalled = true
  const outcome = callAction(engine, walk, action, inputs)
  return outcome instanceof Promise ? concludeLater(outcome, call) : concludeCall(outcome, call)
}

function concludeLater(calling: Promise<ActionOutcome>, call: CellCall): Promise<CellResult> {
  return calling.then((outcome) => concludeCall(outcome, call))
}

function concludeCall(outcome: ActionOutcome, call: CellCall): CellResult | Promise<CellResult> {
  return outcome.kind === 'done' && isLargerJson(outcome.outputs, LARGE_OUTPUTS)
    ? concludeLarge(outcome, call)
    : conclude(outcome, null, call)
}

type Done = Extract<ActionOutcome, { kind: 'done' }>

async function concludeLarge(outcome: Done, call: CellCall): Promise<CellResult> {
  const { definition, env } = call.walk
  const prepared = await prepareLarge(outcome.outputs, maskOf(definition, env))
  if (prepared !== null) return conclude(outcome, prepared, call)
  const { provenance } = outcome
  return conclude({ kind: 'failed', message: TOO_LARGE, ...(provenance && { provenance }) }, null, call)
}

/** Makes the cell's result of an outcome. `prepared` are its outputs if they are large. */
function conclude(
  outcome: ActionOutcome,
  prepared: StoredJson | null,
  call: CellCall,
): CellResult | Promise<CellResult> {
  const { engine, walk } = call
  const { action, mayContinue } = call.found
  const { price } = factsOf(action)
  const given = toCellResult(walk.flight, action, outcome, { mayContinue, price })
  const result = hideSecrets(given, walk, prepared)
  if (result.kind !== 'settle') return result
  // The reservation may have been lost with a worker that died: the cost is reserved again.
  const covered = reserveCredits(engine, walk.flight, result.settlement.creditsMillis)
  return covered instanceof Promise
    ? concludeWhenCovered(covered, result, call)
    : concludeIfCovered(covered, result, call)
}

type Settling = Extract<CellResult, { kind: 'settle' }>

function concludeWhenCovered(
  covering: Promise<ReserveAnswer>,
  result: Settling,
  call: CellCall,
): Promise<CellResult> {
  return covering.then((covered) => concludeIfCovered(covered, result, call))
}

function concludeIfCovered(covered: ReserveAnswer, result: Settling, call: CellCall): CellResult {
  const { engine, walk, cacheKey } = call
  const { instance, action } = call.found
  const { flight } = walk
  const { settlement } = result
  if (covered === 'short') return parkAsIs(flight.position, engine.reservations.waitMs())
  if (covered === 'refused') return outOfCredits(flight, action, settlement.provenance)
  const { learns, asksInOrder } = factsOf(action)
  const complete = settlement.status === 'complete'
  if (cacheKey !== null) settlement.cache = { key: cacheKey, epoch: instance.epoch, keep: complete }
  if (complete) settlement.learns = learns
  if (settlement.creditsMillis > 0 || asksInOrder) settlement.actionId = action.id
  return result
}

type ActionFacts = {
  /** The price in thousandths of a credit. */
  price: number
  learns: boolean
  /** Set if the action has a waterfall. Its provenance then says which providers were asked. */
  asksInOrder: boolean
}
const facts = new WeakMap<Action, ActionFacts>()

/** Returns what is the same for all cells of an action. */
export function factsOf(action: Action): ActionFacts {
  let known = facts.get(action)
  if (known === undefined) {
    known = {
      price: Math.round(action.credits * MILLIS),
      learns: learnsFromRuns(action),
      asksInOrder: Object.values(action.inputs).some(({ waterfall }) => waterfall !== undefined),
    }
    facts.set(action, known)
  }
  return known
}

/**
 * Removes secrets from a result: other servers may repeat what they were sent, in answers and in words of a failure.
 * `prepared` are outputs from which they are removed already.
 */
export function hideSecrets(
  result: CellResult,
  { definition, env }: RowWalk,
  prepared: StoredJson | null = null,
): CellResult {
  if (prepared !== null && result.kind === 'settle') result.settlement.outputs = prepared
  if (env.size === 0 || result.kind === 'not yet') return result
  const mask = maskOf(definition, env)
  if (result.kind === 'later') {
    if (mask !== null) result.parking.state = mask.inValue(result.parking.state)
    return result
  }
  const { settlement } = result
  const { error, outputs, provenance } = settlement
  if (error !== undefined) settlement.error = redact(error, env.values())
  for (const entry of provenance ?? []) {
    if (entry.message !== undefined) entry.message = redact(entry.message, env.values())
  }
  if (mask === null) return result
  if (outputs !== undefined && prepared === null)
    settlement.outputs = mask.inValue(outputs) as Record<string, unknown>
  if (provenance !== undefined) settlement.provenance = mask.inValue(provenance) as Provenance[]
  return result
}
