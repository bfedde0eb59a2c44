import { evaluate } from '../../../catalog/chain/condition-evaluate.ts'
import { type ActionInstance, findInstance } from '../../../catalog/chain/definition.ts'
import { listTokens } from '../../../catalog/chain/reference-walk.ts'
import { parseTemplate, printToken, resolveValue, type Token } from '../../../catalog/chain/references.ts'
import type { RowScope } from '../../../catalog/chain/row-scope.ts'
import { cacheKeyOf, readInputs, resolveInputs } from '../../../catalog/configuration/inputs.ts'
import type { Action } from '../../../catalog/define.ts'
import { learnsFromRuns } from '../../../catalog/describe.ts'
import type { Outcome, Provenance } from '../../../catalog/outcome.ts'
import { isLargerJson } from '../../../lib/json/json-size.ts'
import type { StoredJson } from '../../../lib/json/stored-json.ts'
import { describeUnreadable, type EnvValues } from '../../../lib/security/env-values.ts'
import { redact } from '../../../lib/security/redaction.ts'
import { MILLIS } from '../../../money/store/credits.ts'
import type { Engine, RowWalk } from '../engine-context.ts'
import { callAction, runPure } from './action-call.ts'
import type { CacheHit } from './cache-hits.ts'
import type { CacheUse } from './cache.ts'
import { reserveCredits } from './cell-context.ts'
import { type CellResult, errorCell, outOfCredits, parkAsIs, settleAs, toCellResult } from './cell-result.ts'
import { maskOf } from './environment-mask.ts'
import { LARGE_OUTPUTS, parseEach, prepareLarge, TOO_LARGE } from './large-outputs.ts'

/** The number of claims without a result after which a cell is given up, whatever the reason. */
const MAX_CLAIMS = 25

/** The way in which the cell may use the cache. */
export type CellCaching = Pick<CacheUse, 'end' | 'mayWait'>

/** The action of a cell. */
type Found = { instance: ActionInstance; action: Action; mayContinue: boolean }

/**
 * Runs the cell of one action: condition, inputs, cache, credits, action. Without `caching` there is no cache. A result
 * that waits for nothing comes without a promise: thousands of rows are at work at a time, and promises of their cells
 * took a tenth of the processor time of P1, a fifth of one cell by one.
 */
export function runCell(
  engine: Engine,
  walk: RowWalk,
  actionId: string,
  caching: CellCaching | null,
): CellResult | Promise<CellResult> {
  const { flight, definition, catalogue, scope } = walk
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
  const unread = scope.unreadAmong(tokensOf(instance))
  if (unread.length === 0) return runFound(engine, walk, found, caching)
  return withLargeOutputs(engine, walk, unread, () => runFound(engine, walk, found, caching))
}

/** Runs a cell that names large outputs. They are read for as long as it runs. */
export async function withLargeOutputs<Result>(
  engine: Engine,
  { flight, scope }: RowWalk,
  unread: ReturnType<RowScope['unreadAmong']>,
  run: () => Result | Promise<Result>,
): Promise<Result> {
  const held = await engine.readLargeOutputs({
    org: flight.facts.org_id,
    row: flight.row.id,
    actions: unread.map((one) => one.action),
    storedBytes: unread.reduce((sum, { storedBytes }) => sum + storedBytes, 0),
  })
  let giveBack: (() => void) | undefined
  try {
    giveBack = scope.lend(await parseEach(held.texts))
    return await run()
  } finally {
    giveBack?.()
    held.release()
  }
}

/** The call of a cell: its inputs, and its key if it may be in the cache. */
type CellCall = { inputs: Record<string, unknown>; cacheKey: string | null }

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

  const early = caching === null ? undefined : walk.lookups?.get(instance.id)
  if (early !== undefined && early.hit !== null) return settleHit(action, early.hit)
  if (early !== undefined && caching !== null) {
    const call = { inputs: early.inputs, cacheKey: early.key }
    return findOrCall(engine, walk, found, { ...call, caching: { ...caching, looked: null } })
  }
  const { resolved, missing } = resolveInputs(action, instance.inputs, scope.lookup)
  if (missing.length > 0) return errorCell(describeMissing(missing, walk.env), mayContinue)
  const read = readInputs(action, resolved)
  if (!read.ok) return hideSecrets(errorCell(describeSkip(read.message, instance, scope), mayContinue), walk)
  const { inputs } = read
  if (caching !== null && action.cached) {
    const call = { inputs, cacheKey: cacheKeyOf(resolved) }
    return findOrCall(engine, walk, found, { ...call, caching: { ...caching, looked: undefined } })
  }
  if (!action.pure || factsOf(action).price > 0)
    return reserveAndCall(engine, walk, found, { inputs, cacheKey: null })
  const outcome = runPure(engine, walk, action, inputs)
  return outcome instanceof Promise
    ? concludeLater(walk, found, outcome)
    : conclude(walk, found, outcome, null)
}

/** Returns the result from the cache, or else calls the action. */
async function findOrCall(
  engine: Engine,
  walk: RowWalk,
  found: Found,
  call: CellCall & { cacheKey: string; caching: CellCaching & Pick<CacheUse, 'looked'> },
): Promise<CellResult> {
  const stored = await findStored(engine, walk, found, { ...call.caching, key: call.cacheKey })
  return stored ?? (await reserveAndCall(engine, walk, found, call))
}

/** Reserves the price, calls the action, and makes sure that what it cost is reserved. */
async function reserveAndCall(
  engine: Engine,
  walk: RowWalk,
  found: Found,
  { inputs, cacheKey }: CellCall,
): Promise<CellResult> {
  const { action } = found
  const { flight } = walk
  const { price } = factsOf(action)
  if (price > 0 && !action.paysModel) {
    const held = await reserveCredits(engine, flight, price)
    if (held === 'short') return parkAsIs(flight.position, engine.reservations.waitMs())
    if (held === 'refused') return outOfCredits(flight, action)
  }
  if (!action.pure || (cacheKey !== null && price > 0)) walk.hasCalled = true
  const outcome = await callAction(engine, walk, action, inputs)
  const concluded = conclude(walk, found, outcome, cacheKey)
  const result = concluded instanceof Promise ? await concluded : concluded
  if (result.kind !== 'settle' || result.settlement.creditsMillis <= flight.position.heldMillis) return result
  // The reservation may have been lost with a worker that died: the cost is reserved again.
  const covered = await reserveCredits(engine, flight, result.settlement.creditsMillis)
  if (covered === 'short') return parkAsIs(flight.position, engine.reservations.waitMs())
  return covered === 'refused' ? outOfCredits(flight, action, result.settlement.provenance) : result
}

type ActionOutcome = Outcome<Record<string, unknown>>

/** Makes the cell's result of an outcome, and notes what is stored with it. Only large outputs take time. */
function conclude(
  walk: RowWalk,
  found: Found,
  outcome: ActionOutcome,
  cacheKey: string | null,
): CellResult | Promise<CellResult> {
  const isLarge = outcome.kind === 'done' && isLargerJson(outcome.outputs, LARGE_OUTPUTS)
  if (isLarge) return concludeLarge(walk, found, outcome, cacheKey)
  return toStored(walk, found, outcome, { cacheKey, prepared: null })
}

async function concludeLater(
  walk: RowWalk,
  found: Found,
  running: Promise<ActionOutcome>,
): Promise<CellResult> {
  return conclude(walk, found, await running, null)
}

async function concludeLarge(
  walk: RowWalk,
  found: Found,
  outcome: Extract<ActionOutcome, { kind: 'done' }>,
  cacheKey: string | null,
): Promise<CellResult> {
  const prepared = await prepareLarge(outcome.outputs, maskOf(walk.definition, walk.env))
  if (prepared !== null) return toStored(walk, found, outcome, { cacheKey, prepared })
  const { provenance } = outcome
  const failure: ActionOutcome = { kind: 'failed', message: TOO_LARGE, ...(provenance && { provenance }) }
  return toStored(walk, found, failure, { cacheKey, prepared: null })
}

/** Makes the result as it is stored. `prepared` are its outputs if they are large. */
function toStored(
  walk: RowWalk,
  { instance, action, mayContinue }: Found,
  outcome: ActionOutcome,
  { cacheKey, prepared }: { cacheKey: string | null; prepared: StoredJson | null },
): CellResult {
  const { price, learns, asksInOrder } = factsOf(action)
  const result = hideSecrets(
    toCellResult(walk.flight, action, outcome, { mayContinue, price }),
    walk,
    prepared,
  )
  if (result.kind !== 'settle') return result
  const { settlement } = result
  const isComplete = settlement.status === 'complete'
  if (cacheKey !== null) settlement.cache = { key: cacheKey, epoch: instance.epoch, keep: isComplete }
  if (isComplete) settlement.learns = learns
  if (settlement.creditsMillis > 0 || asksInOrder) settlement.actionId = action.id
  return result
}

/** Returns the result of the cell if the cache has it or another row computes it, and null if it is to be computed. */
async function findStored(
  engine: Engine,
  walk: RowWalk,
  { instance, action }: Found,
  { key, ...caching }: CellCaching & Pick<CacheUse, 'looked'> & { key: string },
): Promise<CellResult | null> {
  const stored = await engine.cache.find(walk.flight, instance, key, {
    ...caching,
    express: walk.express,
    isMissing: walk.missing === instance.id,
    // A cell that costs credits is computed by one row and paid once (D27): the others wait for it.
    mayCompute: action.pure && factsOf(action).price === 0,
  })
  switch (stored.kind) {
    case 'miss':
      return null
    case 'not yet':
      walk.missing = instance.id
      return stored
    case 'ending':
      return parkAsIs(walk.flight.position)
    case 'later':
      return { kind: 'later', parking: { ms: stored.ms, retries: 0, state: stored.state } }
    case 'hit': {
      const result = settleHit(action, stored)
      if (stored.isClaimed === true && result.kind === 'settle')
        result.settlement.cache = { key, epoch: instance.epoch, keep: false }
      return result
    }
  }
}

function settleHit(action: Action, { outputs, billing }: CacheHit): CellResult {
  const { learns } = factsOf(action)
  return settleAs({ status: 'complete', outputs, cached: true, billing, learns }, { halts: false })
}

const known = new WeakMap<ActionInstance, readonly Token[]>()

/** Returns the tokens of an instance. Instances are shared by the rows of their definition. */
export function tokensOf(instance: ActionInstance): readonly Token[] {
  const tokens =
    known.get(instance) ?? listTokens([instance.inputs, instance.run_if]).map(({ token }) => token)
  known.set(instance, tokens)
  return tokens
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
 * `prepared` are outputs from which they are removed already.
 */
function hideSecrets(
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
