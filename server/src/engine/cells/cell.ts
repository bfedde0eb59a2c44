import { cacheKeyOf, readInputs, resolveInputs } from '../../catalog/configuration/inputs.ts'
import type { Action } from '../../catalog/define.ts'
import { learnsFromRuns } from '../../catalog/describe.ts'
import type { Provenance } from '../../catalog/outcome.ts'
import { evaluate } from '../../chain/condition-evaluate.ts'
import type { ActionInstance } from '../../chain/definition.ts'
import { listTokens } from '../../chain/reference-walk.ts'
import { parseTemplate, printToken, resolveValue, type Token } from '../../chain/references.ts'
import type { RowScope } from '../../chain/row-scope.ts'
import { describeUnreadable, type EnvValues } from '../../lib/security/env-values.ts'
import { redact } from '../../lib/security/redaction.ts'
import { MILLIS } from '../../store/organisation/credits.ts'
import type { Engine, RowWalk } from '../engine-context.ts'
import { callAction } from './action-call.ts'
import type { CacheUse } from './cache.ts'
import { holdCredits } from './cell-context.ts'
import { type CellResult, errorCell, outOfCredits, parkAsIs, settleAs, toCellResult } from './cell-result.ts'
import { maskOf } from './environment-mask.ts'

/** However it came to it: a cell that was claimed so often without a result is given up. */
const MAX_CLAIMS = 25

/** How the cell may use the cache. */
export type CellCaching = Pick<CacheUse, 'end' | 'mayWait'>

/** Runs the cell of one action: condition, inputs, cache, credits, action. Without `caching` there is no cache. */
export function runCell(
  engine: Engine,
  walk: RowWalk,
  actionId: string,
  caching: CellCaching | null,
): CellResult | Promise<CellResult> {
  const { flight, definition, catalogue } = walk
  const instance = definition.actions.find((candidate) => candidate.id === actionId)
  const action = instance === undefined ? undefined : catalogue.get(instance.action_id)
  if (instance === undefined || action === undefined)
    return errorCell('this action is not in the catalogue', flight.facts.continue_on_fail)
  const mayContinue = instance.continue_workflow_if_action_fails ?? flight.facts.continue_on_fail
  // Its worker died with it, and then twice while no other suspect was being run (suspects.ts).
  if (flight.position.testedIn === 0)
    return errorCell('the row ended its worker 3 times and was given up', mayContinue)
  if (flight.position.stalledClaims > MAX_CLAIMS)
    return errorCell(
      `the row was taken up ${MAX_CLAIMS} times without a result and was given up`,
      mayContinue,
    )

  const found = { instance, action, mayContinue }
  const unread = walk.scope.unreadAmong(tokensOf(instance))
  if (unread.length === 0) return runFound(engine, walk, found, caching)
  return withLargeOutputs(engine, walk, unread, () => runFound(engine, walk, found, caching))
}

/** Reads what the cell names of large outputs, for as long as it is run. */
async function withLargeOutputs(
  engine: Engine,
  { flight, scope }: RowWalk,
  unread: ReturnType<RowScope['unreadAmong']>,
  run: () => Promise<CellResult>,
): Promise<CellResult> {
  const held = await engine.readLargeOutputs({
    org: flight.facts.org_id,
    row: flight.row.id,
    actions: unread.map(({ action }) => action),
    storedBytes: unread.reduce((sum, { storedBytes }) => sum + storedBytes, 0),
  })
  let giveBack: (() => void) | undefined
  try {
    giveBack = scope.lend(held.texts)
    return await run()
  } finally {
    giveBack?.()
    held.release()
  }
}

const known = new WeakMap<ActionInstance, readonly Token[]>()

/** Instances are shared by the rows of their definition. */
function tokensOf(instance: ActionInstance): readonly Token[] {
  const tokens =
    known.get(instance) ?? listTokens([instance.inputs, instance.run_if]).map(({ token }) => token)
  known.set(instance, tokens)
  return tokens
}

type Found = { instance: ActionInstance; action: Action; mayContinue: boolean }

async function runFound(
  engine: Engine,
  walk: RowWalk,
  { instance, action, mayContinue }: Found,
  caching: CellCaching | null,
): Promise<CellResult> {
  const { flight, scope } = walk
  const gate = checkCondition(instance, scope)
  if (gate.missing.length > 0) return errorCell(namesNothing(gate.missing, walk.env), mayContinue)
  if (!gate.met) {
    const goesOn = instance.run_if?.continue_workflow_if_run_condition_not_met === true
    return settleAs({ status: 'condition_not_met' }, { halts: !goesOn })
  }

  const { resolved, missing } = resolveInputs(action, instance.inputs, scope.lookup)
  if (missing.length > 0) return errorCell(namesNothing(missing, walk.env), mayContinue)
  const read = readInputs(action, resolved)
  if (!read.ok) return hideSecrets(errorCell(skipWords(read.message, instance, scope), mayContinue), walk)

  const cacheKey = caching === null || !action.cached ? null : cacheKeyOf(resolved)
  const learns = learnsFromRuns(action)
  const price = Math.round(action.credits * MILLIS)
  if (cacheKey !== null && caching !== null) {
    const found = await engine.cache.find(flight, instance, cacheKey, {
      ...caching,
      express: walk.express,
      isMissing: walk.missing === instance.id,
      // What costs something is computed by one row and paid once (D27): the others wait for it.
      mayCompute: action.pure && price === 0,
    })
    if (found.kind === 'not yet') {
      walk.missing = instance.id
      return found
    }
    if (found.kind === 'ending') return parkAsIs(flight.position)
    if (found.kind === 'later')
      return { kind: 'later', parking: { ms: found.ms, retries: 0, state: found.state } }
    if (found.kind === 'hit')
      return settleAs(
        {
          status: 'complete',
          outputs: found.outputs,
          cached: true,
          billing: { cached: found.from },
          learns,
        },
        { halts: false },
      )
  }

  const holding = price === 0 || action.paysModel ? 'held' : holdCredits(engine, flight, price)
  const held = typeof holding === 'string' ? holding : await holding
  if (held === 'short') return parkAsIs(flight.position, engine.purses.waitMs())
  if (held === 'refused') return outOfCredits(flight, action)
  if (!action.pure || (price > 0 && cacheKey !== null)) walk.hasCalled = true
  const outcome = await callAction(engine, walk, action, read.inputs)
  const result = hideSecrets(toCellResult(flight, action, outcome, { mayContinue, price }), walk)
  if (result.kind !== 'settle') return result
  // What was set aside may have gone with a worker that died since: what it costs is set aside again.
  const covering = holdCredits(engine, flight, result.settlement.creditsMillis)
  const covered = typeof covering === 'string' ? covering : await covering
  if (covered === 'short') return parkAsIs(flight.position, engine.purses.waitMs())
  if (covered === 'refused') return outOfCredits(flight, action, result.settlement.provenance)
  const complete = result.settlement.status === 'complete'
  if (cacheKey !== null) result.settlement.cache = { key: cacheKey, epoch: instance.epoch, keep: complete }
  if (complete) result.settlement.learns = learns
  if (result.settlement.creditsMillis > 0 || asksInOrder(action)) result.settlement.actionId = action.id
  return result
}

const waterfalls = new WeakMap<Action, boolean>()

/** Whether the action has a waterfall, of which the provenance tells who was asked. */
function asksInOrder(action: Action): boolean {
  const has =
    waterfalls.get(action) ?? Object.values(action.inputs).some(({ waterfall }) => waterfall !== undefined)
  waterfalls.set(action, has)
  return has
}

/** Others may repeat what they were sent, in what they answer and in words of a failure. */
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

function checkCondition(instance: ActionInstance, scope: RowScope): { met: boolean; missing: Token[] } {
  if (instance.run_if === undefined) return { met: true, missing: [] }
  const missing: Token[] = []
  const met = evaluate(instance.run_if.conditions, (text) => {
    const resolved = resolveValue(parseTemplate(text), scope.lookup)
    missing.push(...resolved.missing)
    return resolved.value
  })
  return { met, missing }
}

function namesNothing(tokens: readonly Token[], env: EnvValues): string {
  const variable = tokens.find((token) => token.kind === 'env')
  if (variable?.kind === 'env') {
    const { key } = variable
    return describeUnreadable(env, key) ?? `the environment variable ${key} has no value here`
  }
  return `these references name nothing: ${[...new Set(tokens.map(printToken))].join(', ')}`
}

/** An input that is empty because what it refers to failed is a skip, and says so (D18). */
function skipWords(message: string, instance: ActionInstance, scope: RowScope): string {
  const upstream = scope.failedAmong(listTokens(instance.inputs).map((found) => found.token))
  return upstream.length === 0 ? message : `Skipped: ${message}; ${upstream.join(', ')} gave no result`
}
