import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CellStatus } from '#contract/rows.ts'
import type { Action, ActionContext, SheetAccess } from '../catalog/define.ts'
import { learnsFromRuns } from '../catalog/describe.ts'
import { readInputs, resolveInputs } from '../catalog/inputs.ts'
import type { Outcome } from '../catalog/outcome.ts'
import type { Catalogue } from '../catalog/registry.ts'
import { evaluate } from '../chain/condition-evaluate.ts'
import type { ActionInstance, Definition } from '../chain/definition.ts'
import { listTokens } from '../chain/reference-walk.ts'
import { parseTemplate, printToken, resolveValue, type Token } from '../chain/references.ts'
import { reasonOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { MILLIS } from '../store/credits.ts'
import { isUnavailable } from '../store/db.ts'
import type { CellCache } from './cache.ts'
import type { Desk, Flight, Parking, RowJob, Settlement } from './desk.ts'
import { createRowScope, type RowScope } from './row-scope.ts'

type Lent = Omit<ActionContext, 'signal' | 'now' | 'state' | 'sheets' | 'reserve'>

/** What the walk of a row needs; main puts it together. */
export type Engine = {
  desk: Desk
  cache: CellCache
  catalogue: Catalogue
  log: Log
  /** What every action may use. */
  lend(flight: Flight): Lent
  envOf(flight: Flight): Promise<ReadonlyMap<string, string>>
  definitionOf(flight: Flight): Promise<Definition>
  sheetsFor(flight: Flight): SheetAccess
  /** Aborted when the process ends: rows are put down after the cell at hand. */
  ending: AbortSignal
}

/** A row that is taken up for the last time is alone (worker.ts); after that it is given up. */
export const MAX_CLAIMS = 3

const MAX_OUTAGES = 8
const ENDING_GRACE_MS = 5000
const LONGEST_PAUSE_MS = 4000

export const TAKEN_OVER = 'another worker has taken over the row'
/** Somebody else has the row now, and the job with it: it must not be reported as done. */
export class RowTakenOver extends Error {
  override name = 'RowTakenOver'
}

/**
 * Walks a row. When the database is away for a moment the row is taken up again where it is, by the same process. `onSettled`
 * hears when the cell that it was taken up for is settled.
 */
export async function walkRow(engine: Engine, job: RowJob, onSettled?: () => void): Promise<void> {
  for (let outages = 0; ; outages += 1) {
    try {
      await walkOnce(engine, job, MAX_CLAIMS + outages, onSettled)
      return
    } catch (cause) {
      if (!isUnavailable(cause) || engine.ending.aborted || outages === MAX_OUTAGES) throw cause
      await sleep(Math.min(LONGEST_PAUSE_MS, 125 * 2 ** outages))
    }
  }
}

/** Takes up a row and walks it along its run's actions, settling each cell before the next one starts. */
async function walkOnce(
  engine: Engine,
  job: RowJob,
  maxClaims: number,
  onSettled?: () => void,
): Promise<void> {
  let flight = await engine.desk.claim(job)
  if (flight === null) return
  if (flight.data === null || flight.run_state === 'stopped') {
    await abandon(engine, flight)
    return
  }
  const [definition, env] = await Promise.all([engine.definitionOf(flight), engine.envOf(flight)])
  const knownOutputs = (actionId: string, name: string) => {
    const template = engine.catalogue.get(actionId)
    return template === undefined || template.dynamic || Object.hasOwn(template.outputs, name)
  }
  const scope = createRowScope(definition, { data: flight.data, cells: flight.cells }, knownOutputs, env)
  while (flight !== null) {
    if (engine.ending.aborted) {
      await putDown(engine, flight, { ms: 0, retries: flight.retries, attempt: 0, state: flight.state })
      return
    }
    flight = await step(engine, { flight, definition, scope, maxClaims })
    onSettled?.()
  }
}

async function putDown(engine: Engine, flight: Flight, parking: Parking): Promise<'put down'> {
  return (await engine.desk.park(flight, parking)) ? 'put down' : leave(engine, flight)
}

async function abandon(engine: Engine, flight: Flight): Promise<void> {
  if (!(await engine.desk.abandon(flight))) await leave(engine, flight)
}

/** The fence is lost. The job is done when the row is out of the air, and another worker's when it is not. */
async function leave(engine: Engine, flight: Flight): Promise<'put down'> {
  if (await engine.desk.isInTheAir(flight)) throw new RowTakenOver(TAKEN_OVER)
  return 'put down'
}

type Leg = { flight: Flight; definition: Definition; scope: RowScope; maxClaims: number }

type CellResult = Omit<Settlement, 'next' | 'startedAt'> & { halts: boolean }

/** Runs and settles the flight's current cell. Answers the flight at its next cell, or null when there is none. */
async function step(engine: Engine, leg: Leg): Promise<Flight | null> {
  const { flight, scope } = leg
  const startedAt = Date.now()
  // Cells that wait for this one's result in the cache look again only once it is settled.
  const settling = Promise.withResolvers<void>()
  try {
    const result = await runCell(engine, leg, settling.promise)
    if (result === 'put down') return null
    const { halts, ...settlement } = result
    const next = halts ? null : (flight.actions[flight.actions.indexOf(flight.action) + 1] ?? null)
    const settled = await engine.desk.settle(flight, { ...settlement, startedAt, next })
    if (settled === null) await leave(engine, flight)
    if (settled === null || next === null) return null
    scope.add(flight.action, settlement.status, settlement.outputs ?? null)
    const onward = { ...flight, action: next, attempt: 1, retries: 0, held_millis: 0, state: null }
    if (settled.runState !== 'stopped') return onward
    await abandon(engine, onward)
    return null
  } finally {
    settling.resolve()
  }
}

async function runCell(
  engine: Engine,
  { flight, definition, scope, maxClaims }: Leg,
  settled: Promise<void>,
): Promise<CellResult | 'put down'> {
  const instance = definition.actions.find((candidate) => candidate.id === flight.action)
  const action = instance === undefined ? undefined : engine.catalogue.get(instance.action_id)
  if (instance === undefined || action === undefined)
    return unrunnable(flight, 'this action is not in the catalogue')
  const mayContinue = instance.continue_workflow_if_action_fails ?? flight.continue_on_fail
  const broken = (message: string): CellResult => ({ ...unrunnable(flight, message), halts: !mayContinue })
  if (flight.attempt > maxClaims)
    return broken(`the row ended its worker ${MAX_CLAIMS} times and was given up`)

  const gate = checkCondition(instance, scope)
  if (gate.missing.length > 0) return broken(namesNothing(gate.missing))
  if (!gate.met) {
    const goesOn = instance.run_if?.continue_workflow_if_run_condition_not_met === true
    return { status: 'condition_not_met', creditsMillis: 0, cached: false, halts: !goesOn }
  }

  const { resolved, missing } = resolveInputs(action, instance.inputs, scope.lookup)
  if (missing.length > 0) return broken(namesNothing(missing))
  const read = readInputs(action, resolved)
  if (!read.ok) return broken(skipWords(read.message, instance, scope))

  const cacheKey = flight.cache_enabled ? keyOf(resolved) : null
  const cached = cacheKey === null ? null : await engine.cache.find(flight, instance, cacheKey, settled)
  if (cached !== null)
    return {
      status: 'complete',
      outputs: cached,
      creditsMillis: 0,
      cached: true,
      learns: learnsFromRuns(action),
      halts: false,
    }

  const price = Math.round(action.credits * MILLIS)
  const held = await hold(engine, flight, price)
  if (held === 'lost') return leave(engine, flight)
  if (held === 'no_credits') return outOfCredits(action)
  const outcome = await runAction(engine, flight, action, read.inputs)
  if (outcome === 'fence lost') return leave(engine, flight)
  const result = await judge(engine, flight, action, outcome, { mayContinue, price })
  if (result === 'put down' || result.status !== 'complete') return result
  if (cacheKey !== null) result.cache = { key: cacheKey, epoch: instance.epoch }
  result.learns = learnsFromRuns(action)
  return result
}

/** Sets credits aside until the cell has `price` of them in all. */
async function hold(engine: Engine, flight: Flight, price: number): Promise<'held' | 'no_credits' | 'lost'> {
  const more = price - flight.held_millis
  if (more <= 0) return 'held'
  const answer = await engine.desk.reserve(flight, more)
  if (answer === 'held') flight.held_millis = price
  return answer
}

async function runAction(
  engine: Engine,
  flight: Flight,
  action: Action,
  inputs: Record<string, unknown>,
): Promise<Outcome<Record<string, unknown>> | 'fence lost'> {
  const limit = new AbortController()
  const late = Promise.withResolvers<never>()
  const cut = Promise.withResolvers<Outcome<never>>()
  const timer = setTimeout(() => {
    limit.abort()
    late.reject(new TimedOut(`no answer within ${action.timeoutSeconds} s`))
  }, action.timeoutSeconds * 1000)
  // A process that ends waits for short cells; a long one is put down, to be run again by another.
  let grace: NodeJS.Timeout | undefined
  const onEnding = () => {
    grace = setTimeout(() => {
      limit.abort()
      cut.resolve({ kind: 'wait', ms: 0, state: flight.state })
    }, ENDING_GRACE_MS)
  }
  engine.ending.addEventListener('abort', onEnding)
  const context: ActionContext = {
    ...engine.lend(flight),
    signal: limit.signal,
    now: () => new Date(),
    state: flight.state ?? undefined,
    sheets: engine.sheetsFor(flight),
    reserve: async (credits) => {
      const answer = await hold(engine, flight, Math.round(credits * MILLIS))
      if (answer === 'lost') cut.reject(new FenceLost())
      return answer === 'held'
    },
  }
  try {
    return await Promise.race([action.run({ inputs, context }), late.promise, cut.promise])
  } catch (cause) {
    if (cause instanceof FenceLost) return 'fence lost'
    if (cause instanceof TimedOut) return { kind: 'failed', message: cause.message }
    engine.log.error({ err: cause, action: action.id }, 'an action threw')
    return { kind: 'failed', message: `the action failed unexpectedly: ${reasonOf(cause)}` }
  } finally {
    clearTimeout(timer)
    clearTimeout(grace)
    engine.ending.removeEventListener('abort', onEnding)
  }
}

class TimedOut extends Error {}
class FenceLost extends Error {}

type Rules = { mayContinue: boolean; price: number }

/** Turns an outcome into the cell's result, or puts the row down until it is worth another try. */
async function judge(
  engine: Engine,
  flight: Flight,
  action: Action,
  outcome: Outcome<Record<string, unknown>>,
  { mayContinue, price }: Rules,
): Promise<CellResult | 'put down'> {
  const plain = { creditsMillis: 0, cached: false }
  switch (outcome.kind) {
    case 'done':
      return {
        status: 'complete',
        outputs: outcome.outputs,
        creditsMillis: outcome.credits === undefined ? price : Math.round(outcome.credits * MILLIS),
        cached: false,
        provenance: outcome.provenance,
        halts: false,
      }
    case 'no_match':
      return {
        status: 'complete',
        outputs: emptyOutputs(action),
        creditsMillis: Math.round((outcome.credits ?? 0) * MILLIS),
        cached: false,
        provenance: outcome.provenance,
        halts: false,
      }
    case 'out_of_credits':
      return {
        ...plain,
        status: 'out_of_credits',
        error: outcome.message,
        provenance: outcome.provenance,
        halts: true,
      }
    case 'condition_not_met':
      return { ...plain, status: 'condition_not_met', halts: true }
    case 'failed':
      return {
        ...plain,
        status: 'failed',
        error: outcome.message,
        provenance: outcome.provenance,
        halts: !mayContinue,
      }
    case 'unrunnable':
      return { ...plain, status: 'error', error: outcome.message, halts: !mayContinue }
    case 'retry': {
      if (flight.retries >= action.retries) {
        const error = `${outcome.message} (after ${flight.retries + 1} attempts)`
        return { ...plain, status: 'failed', error, halts: !mayContinue }
      }
      const ms = outcome.afterMs ?? backoff(flight.retries)
      return putDown(engine, flight, { ms, retries: flight.retries + 1, attempt: 0, state: flight.state })
    }
    case 'wait':
      return putDown(engine, flight, {
        ms: outcome.ms,
        retries: flight.retries,
        attempt: 0,
        state: outcome.state,
      })
  }
}

/** One second, two, four, each with half of it by chance, so that rows that failed together do not return together. */
function backoff(retries: number): number {
  return 1000 * 2 ** retries * (0.5 + Math.random() / 2)
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

function unrunnable(flight: Flight, error: string): CellResult {
  return {
    status: 'error' satisfies CellStatus,
    error,
    creditsMillis: 0,
    cached: false,
    halts: !flight.continue_on_fail,
  }
}

function outOfCredits(action: Action): CellResult {
  const error = `${action.name} costs ${action.credits} credits and the organisation has too few left`
  return { status: 'out_of_credits', error, creditsMillis: 0, cached: false, halts: true }
}

function namesNothing(tokens: readonly Token[]): string {
  const env = tokens.find((token) => token.kind === 'env')
  if (env?.kind === 'env') return `the environment variable ${env.key} has no value here`
  return `these references name nothing: ${[...new Set(tokens.map(printToken))].join(', ')}`
}

/** An input that is empty because what it refers to failed is a skip, and says so (D18). */
function skipWords(message: string, instance: ActionInstance, scope: RowScope): string {
  const upstream = scope.failedAmong(listTokens(instance.inputs).map((found) => found.token))
  return upstream.length === 0 ? message : `Skipped: ${message}; ${upstream.join(', ')} gave no result`
}

function emptyOutputs(action: Action): Record<string, unknown> {
  return Object.fromEntries(Object.keys(action.outputs).map((name) => [name, null]))
}

/** D25: the resolved inputs, compared as text. */
function keyOf(resolved: Record<string, unknown>): string {
  const entries = Object.entries(resolved).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(entries)).digest('hex')
}
