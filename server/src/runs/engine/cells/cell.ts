import { evaluate } from '../../../catalog/chain/condition-evaluate.ts'
import { type ActionInstance, findInstance } from '../../../catalog/chain/definition.ts'
import { listTokens } from '../../../catalog/chain/reference-walk.ts'
import { parseTemplate, printToken, resolveValue, type Token } from '../../../catalog/chain/references.ts'
import type { RowScope } from '../../../catalog/chain/row-scope.ts'
import { cacheKeyOf, readInputs, resolveInputs } from '../../../catalog/configuration/inputs.ts'
import type { Action } from '../../../catalog/define.ts'
import { describeUnreadable, type EnvValues } from '../../../lib/security/env-values.ts'
import type { Engine, Lookup, RowWalk } from '../engine-context.ts'
import type { AskedCell, CacheHit } from './cache-hits.ts'
import { askedOf, type CacheUse } from './cache.ts'
import { type CellCall, factsOf, type Found, hideSecrets, reserveAndCall } from './cell-call.ts'
import { type CellResult, errorCell, parkAsIs, settleAs } from './cell-result.ts'
import { parseEach } from './large-outputs.ts'

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
    giveBack = scope.lend(await parseEach(held.texts))
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
    return findOrCall({ engine, walk, found, inputs, cacheKey: key }, { ...caching, looked: hit })
  }
  const { resolved, missing } = resolveInputs(action, instance.inputs, scope.lookup)
  if (missing.length > 0) return errorCell(describeMissing(missing, walk.env), mayContinue)
  const read = readInputs(action, resolved)
  if (!read.ok) return hideSecrets(errorCell(describeSkip(read.message, instance, scope), mayContinue), walk)

  const call = { engine, walk, found, inputs: read.inputs }
  if (caching === null || !action.cached) return reserveAndCall({ ...call, cacheKey: null })
  return findOrCall({ ...call, cacheKey: cacheKeyOf(resolved) }, { ...caching, looked: undefined })
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

/** Returns the result from the cache, or else a new one. */
async function findOrCall(
  call: CellCall & { cacheKey: string },
  caching: CellCaching & Pick<CacheUse, 'looked'>,
): Promise<CellResult> {
  const { engine, walk, cacheKey: key } = call
  const { instance, action } = call.found
  const { price } = factsOf(action)
  const stored = await engine.cache.find(walk.flight, instance, key, {
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
      return parkAsIs(walk.flight.position)
    case 'later':
      return { kind: 'later', parking: { ms: stored.ms, retries: 0, state: stored.state } }
    case 'hit': {
      const result = settleHit(action, stored)
      if (stored.isClaimed === true && result.kind === 'settle')
        result.settlement.cache = { key, epoch: instance.epoch, keep: false }
      return result
    }
    case 'miss':
      return reserveAndCall(call)
  }
}

function settleHit(action: Action, { outputs, billing }: CacheHit): CellResult {
  const { learns } = factsOf(action)
  return settleAs({ status: 'complete', outputs, cached: true, billing, learns }, { halts: false })
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
