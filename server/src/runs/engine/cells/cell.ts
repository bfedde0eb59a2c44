import { evaluate } from '../../../catalog/chain/condition-evaluate.ts'
import { type ActionInstance, findInstance } from '../../../catalog/chain/definition.ts'
import { listTokens } from '../../../catalog/chain/reference-walk.ts'
import { parseTemplate, printToken, resolveValue, type Token } from '../../../catalog/chain/references.ts'
import type { RowScope } from '../../../catalog/chain/row-scope.ts'
import { cacheKeyOf, readInputs, resolveInputs } from '../../../catalog/configuration/inputs.ts'
import type { Action } from '../../../catalog/define.ts'
import { learnsFromRuns } from '../../../catalog/describe.ts'
import type { Outcome, Provenance } from '../../../catalog/outcome.ts'
import { describeUnreadable, type EnvValues } from '../../../lib/security/env-values.ts'
import { redact } from '../../../lib/security/redaction.ts'
import { MILLIS } from '../../../money/store/credits.ts'
import type { Engine, Lookup, RowWalk } from '../engine-context.ts'
import { callAction } from './action-call.ts'
import type { AskedCell, CacheHit } from './cache-hits.ts'
import { askedOf, type CacheUse } from './cache.ts'
import { holdCredits, type Holding } from './cell-context.ts'
import { type CellResult, errorCell, outOfCredits, parkAsIs, settleAs, toCellResult } from './cell-result.ts'
import { maskOf } from './environment-mask.ts'

/** The number of claims without a result after which a cell is given up, whatever the reason. */
const MAX_CLAIMS = 25

/** The way in which the cell may use the cache. */
export type CellCaching = Pick<CacheUse, 'end' | 'mayWait'>

/**
 * Runs the cell of one action: condition, inputs, cache, credits, action. Without `caching` there is no cache.
 *
 * Mostly it waits for nothing. What is done later is therefore a function of its own instead of a closure: V8 makes an
 * object for what a closure refers to whenever its function is entered, even if the closure is never reached.
 */
export function runCell(
  engine: Engine,
  walk: RowWalk,
  actionId: string,
  caching: CellCaching | null,
): CellResult | Promise<CellResult> {
  const { flight, definition, catalogue } = walk
  const instance = findInstance(definition, actionId)
  const action = instance === undefined ? undefined : catalogue.get(instance.action_id)
  if (instance === undefined || action === undefined)
    return errorCell('this action is not in the catalogue', flight.facts.continue_on_fail)
  const mayContinue = instance.continue_workflow_if_action_fails ?? flight.facts.continue_on_fail
  // Its worker died with it, and then twice while no other suspect was being run (suspects.ts).
  if (flight.position.testedIn === 0)
    return errorCell('this row crashed its worker 3 times and will not be retried', mayContinue)
  if (flight.position.stalledClaims > MAX_CLAIMS)
    return errorCell(
      `this row was claimed ${MAX_CLAIMS} times without a result and will not be retried`,
      mayContinue,
    )

  const found = { instance, action, mayContinue }
  const unread = walk.scope.unreadAmong(tokensOf(instance))
  if (unread.length === 0) return runFound(engine, walk, found, caching)
  return runWithLargeOutputs(engine, walk, unread, { found, caching })
}

/** Reads the large outputs that the cell names, for as long as it runs. */
async function runWithLargeOutputs(
  engine: Engine,
  walk: RowWalk,
  unread: ReturnType<RowScope['unreadAmong']>,
  { found, caching }: { found: Found; caching: CellCaching | null },
): Promise<CellResult> {
  const { flight, scope } = walk
  const held = await engine.readLargeOutputs({
    org: flight.facts.org_id,
    row: flight.row.id,
    actions: unread.map(({ action }) => action),
    storedBytes: unread.reduce((sum, { storedBytes }) => sum + storedBytes, 0),
  })
  let giveBack: (() => void) | undefined
  try {
    giveBack = scope.lend(held.texts)
    return await runFound(engine, walk, found, caching)
  } finally {
    giveBack?.()
    held.release()
  }
}

const known = new WeakMap<ActionInstance, readonly Token[]>()

/** Returns the tokens of an instance. Instances are shared by the rows of their definition. */
function tokensOf(instance: ActionInstance): readonly Token[] {
  const tokens =
    known.get(instance) ?? listTokens([instance.inputs, instance.run_if]).map(({ token }) => token)
  known.set(instance, tokens)
  return tokens
}

type Found = { instance: ActionInstance; action: Action; mayContinue: boolean }

function runFound(
  engine: Engine,
  walk: RowWalk,
  found: Found,
  caching: CellCaching | null,
): CellResult | Promise<CellResult> {
  const { instance, action, mayContinue } = found
  const { scope } = walk
  const gate = checkCondition(instance, scope)
  if (gate.missing.length > 0) return errorCell(describeMissing(gate.missing, walk.env), mayContinue)
  if (!gate.met) {
    const goesOn = instance.run_if?.continue_workflow_if_run_condition_not_met === true
    return settleAs({ status: 'condition_not_met' }, { halts: !goesOn })
  }

  const early = walk.lookups?.get(instance.id)
  if (early !== undefined && caching !== null) {
    const { inputs, key, hit } = early
    if (hit !== null && !(hit instanceof Promise)) return settleHit(action, hit)
    return findOrCall(engine, walk, found, inputs, { ...caching, key, looked: hit })
  }
  const { resolved, missing } = resolveInputs(action, instance.inputs, scope.lookup)
  if (missing.length > 0) return errorCell(describeMissing(missing, walk.env), mayContinue)
  const read = readInputs(action, resolved)
  if (!read.ok) return hideSecrets(errorCell(describeSkip(read.message, instance, scope), mayContinue), walk)

  if (caching === null || !action.cached) return holdAndCall(engine, walk, found, read.inputs, null)
  return findOrCall(engine, walk, found, read.inputs, {
    ...caching,
    key: cacheKeyOf(resolved),
    looked: undefined,
  })
}

/** Looks up cells of these actions in the cache before their turn, all at once. */
export function lookAhead(engine: Engine, walk: RowWalk, actions: readonly string[]): void {
  const early = listLookups(walk, actions)
  if (early.length === 0) return
  const looking = engine.cache.look(
    early.map(({ asked }) => asked),
    walk.express,
  )
  for (const [n, { lookup }] of early.entries()) {
    lookup.hit = looking.then((hits) => hits[n] ?? null)
    // A failure is raised by the cell, when its turn comes.
    lookup.hit.catch(() => undefined)
  }
}

/**
 * Lists the cells of these actions that can be looked up before their turn, and notes them in the walk: those that
 * depend on inputs of the row alone. A cell that cannot be run is left to its turn.
 */
export function listLookups(
  walk: RowWalk,
  actions: readonly string[],
): { asked: AskedCell; lookup: Lookup }[] {
  const { flight, definition, catalogue, scope } = walk
  const early: { asked: AskedCell; lookup: Lookup }[] = []
  walk.lookups = new Map()
  for (const id of actions) {
    const instance = findInstance(definition, id)
    const action = instance === undefined ? undefined : catalogue.get(instance.action_id)
    if (instance === undefined || action?.cached !== true || !needsInputsOnly(instance)) continue
    const { resolved, missing } = resolveInputs(action, instance.inputs, scope.lookup)
    const read = missing.length > 0 ? null : readInputs(action, resolved)
    if (read?.ok !== true) continue
    const key = cacheKeyOf(resolved)
    const lookup: Lookup = { inputs: read.inputs, key, hit: null }
    walk.lookups.set(id, lookup)
    early.push({ asked: askedOf(flight, instance, key), lookup })
  }
  return early
}

const alone = new WeakMap<ActionInstance, boolean>()

/** Returns true if neither the condition nor the inputs of the action depend on another action. */
function needsInputsOnly(instance: ActionInstance): boolean {
  let known = alone.get(instance)
  if (known === undefined) {
    known = instance.run_if === undefined && tokensOf(instance).every((token) => !('action' in token))
    alone.set(instance, known)
  }
  return known
}

type Inputs = Record<string, unknown>

/** Returns the result from the cache, or else a new one. */
async function findOrCall(
  engine: Engine,
  walk: RowWalk,
  found: Found,
  inputs: Inputs,
  { key, ...caching }: CellCaching & Pick<CacheUse, 'looked'> & { key: string },
): Promise<CellResult> {
  const { flight } = walk
  const { instance, action } = found
  const { price } = factsOf(action)
  const stored = await engine.cache.find(flight, instance, key, {
    ...caching,
    express: walk.express,
    isMissing: walk.missing === instance.id,
    // A cell that costs credits is computed by one row and paid once (D27): the others wait for it.
    mayCompute: action.pure && price === 0,
  })
  switch (stored.kind) {
    case 'not yet':
      walk.missing = instance.id
      return stored
    case 'ending':
      return parkAsIs(flight.position)
    case 'later':
      return { kind: 'later', parking: { ms: stored.ms, retries: 0, state: stored.state } }
    case 'hit': {
      const result = settleHit(action, stored)
      if (stored.isClaimed === true && result.kind === 'settle')
        result.settlement.cache = { key, epoch: instance.epoch, keep: false }
      return result
    }
    case 'miss':
      return holdAndCall(engine, walk, found, inputs, key)
  }
}

function settleHit(action: Action, { outputs, billing }: CacheHit): CellResult {
  const { learns } = factsOf(action)
  return settleAs({ status: 'complete', outputs, cached: true, billing, learns }, { halts: false })
}

/** Reserves the price and calls the action. A free and pure action returns at once, without waiting. */
function holdAndCall(
  engine: Engine,
  walk: RowWalk,
  found: Found,
  inputs: Inputs,
  cacheKey: string | null,
): CellResult | Promise<CellResult> {
  const { action } = found
  const { price } = factsOf(action)
  if (price === 0 || action.paysModel) return callHeld(engine, walk, found, inputs, cacheKey)
  const held = holdCredits(engine, walk.flight, price)
  return held instanceof Promise
    ? callWhenHeld(held, engine, walk, found, inputs, cacheKey)
    : callIfHeld(held, engine, walk, found, inputs, cacheKey)
}

function callWhenHeld(holding: Promise<Holding>, ...call: Parameters<typeof callHeld>): Promise<CellResult> {
  return holding.then((held) => callIfHeld(held, ...call))
}

function callIfHeld(
  held: Holding,
  engine: Engine,
  walk: RowWalk,
  found: Found,
  inputs: Inputs,
  cacheKey: string | null,
): CellResult | Promise<CellResult> {
  if (held === 'short') return parkAsIs(walk.flight.position, engine.purses.waitMs())
  if (held === 'refused') return outOfCredits(walk.flight, found.action)
  return callHeld(engine, walk, found, inputs, cacheKey)
}

function callHeld(
  engine: Engine,
  walk: RowWalk,
  found: Found,
  inputs: Inputs,
  cacheKey: string | null,
): CellResult | Promise<CellResult> {
  const { action } = found
  if (!action.pure || (cacheKey !== null && factsOf(action).price > 0)) walk.hasCalled = true
  const outcome = callAction(engine, walk, action, inputs)
  return outcome instanceof Promise
    ? concludeLater(outcome, engine, walk, found, cacheKey)
    : concludeCall(outcome, engine, walk, found, cacheKey)
}

type ActionOutcome = Outcome<Record<string, unknown>>

function concludeLater(
  calling: Promise<ActionOutcome>,
  ...call: [engine: Engine, walk: RowWalk, found: Found, cacheKey: string | null]
): Promise<CellResult> {
  return calling.then((outcome) => concludeCall(outcome, ...call))
}

function concludeCall(
  outcome: ActionOutcome,
  engine: Engine,
  walk: RowWalk,
  found: Found,
  cacheKey: string | null,
): CellResult | Promise<CellResult> {
  const { action, mayContinue } = found
  const { price } = factsOf(action)
  const result = hideSecrets(toCellResult(walk.flight, action, outcome, { mayContinue, price }), walk)
  if (result.kind !== 'settle') return result
  // The reservation may have been lost with a worker that died: the cost is reserved again.
  const covered = holdCredits(engine, walk.flight, result.settlement.creditsMillis)
  return covered instanceof Promise
    ? concludeWhenCovered(covered, result, engine, walk, found, cacheKey)
    : concludeIfCovered(covered, result, engine, walk, found, cacheKey)
}

type Settling = Extract<CellResult, { kind: 'settle' }>

function concludeWhenCovered(
  covering: Promise<Holding>,
  ...rest: [result: Settling, engine: Engine, walk: RowWalk, found: Found, cacheKey: string | null]
): Promise<CellResult> {
  return covering.then((covered) => concludeIfCovered(covered, ...rest))
}

function concludeIfCovered(
  covered: Holding,
  result: Settling,
  engine: Engine,
  { flight }: RowWalk,
  { instance, action }: Found,
  cacheKey: string | null,
): CellResult {
  const { settlement } = result
  if (covered === 'short') return parkAsIs(flight.position, engine.purses.waitMs())
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
function factsOf(action: Action): ActionFacts {
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
 */
function hideSecrets(result: CellResult, { definition, env }: RowWalk): CellResult {
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
  if (outputs !== undefined) settlement.outputs = mask.inValue(outputs) as Record<string, unknown>
  if (provenance !== undefined) settlement.provenance = mask.inValue(provenance) as Provenance[]
  return result
}

type Gate = { met: boolean; missing: readonly Token[] }
const OPEN: Gate = { met: true, missing: [] }

function checkCondition(instance: ActionInstance, scope: RowScope): Gate {
  if (instance.run_if === undefined) return OPEN
  const missing: Token[] = []
  const met = evaluate(instance.run_if.conditions, (text) => {
    const resolved = resolveValue(parseTemplate(text), scope.lookup)
    missing.push(...resolved.missing)
    return resolved.value
  })
  return { met, missing }
}

function describeMissing(tokens: readonly Token[], env: EnvValues): string {
  const variable = tokens.find((token) => token.kind === 'env')
  if (variable?.kind === 'env') {
    const { key } = variable
    return describeUnreadable(env, key) ?? `the environment variable ${key} has no value here`
  }
  return `unknown references: ${[...new Set(tokens.map(printToken))].join(', ')}`
}

/**
 * Returns the words of an invalid input. An input that is empty because what it refers to failed is a skip, and says so
 * (D18).
 */
function describeSkip(message: string, instance: ActionInstance, scope: RowScope): string {
  const upstream = scope.failedAmong(listTokens(instance.inputs).map((found) => found.token))
  return upstream.length === 0 ? message : `Skipped: ${message}; ${upstream.join(', ')} gave no result`
}
