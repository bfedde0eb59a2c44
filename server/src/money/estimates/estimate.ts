import type { z } from 'zod'
import type { Estimate } from '#contract/estimates.ts'
import { type Definition, findInstance } from '../../catalog/chain/definition.ts'
import { listTokens } from '../../catalog/chain/reference-walk.ts'
import { type CellPrice, priceOf, sum } from '../../catalog/configuration/cell-price.ts'
import type { ConfigurationEnvironment } from '../../catalog/configuration/environment.ts'
import type { Catalogue } from '../../catalog/registry.ts'
import type { Db } from '../../database/connection/db.ts'
import type { RowChoice } from '../../runs/row-choice.ts'
import { sampleRows } from '../../runs/row-sample.ts'
import {
  findStoredOutputs,
  hasStoredOutputs,
  type ForeseenRow,
  listForeseenRows,
  MAX_FORESEEN_BYTES,
  readCellHistories,
} from '../../runs/store/foreseen-cells.ts'
import type { SheetRecord } from '../../sheets/store/sheets.ts'
import { type Expectation, expectCell } from './expectation.ts'
import { createForecast, type RowForecast, type RunAction } from './row-classes.ts'

/** The rows to estimate: existing ones, a number of rows that do not exist yet, or such rows in their stored form. */
export type EstimatedRows =
  | RowChoice
  | { kind: 'new'; count: number }
  | { kind: 'given'; data: readonly string[] }

export type EstimateRequest = {
  sheet: SheetRecord
  definition: Definition
  /** The actions that would run, in order. */
  actions: readonly string[]
  rows: EstimatedRows
  exact: boolean
}

/** The part of one sheet in an estimate, without the rows that it sends on and without the balance. */
export type SheetEstimate = Pick<z.infer<typeof Estimate>, 'rows' | 'precision' | 'cells' | 'actions'> & {
  credits: { expected: number; at_most: number; saved_by_cache: number; saved_by_own_keys: number }
  /** The expected and the largest number of cells of each action that run. */
  running: ReadonlyMap<string, { expected: number; atMost: number }>
}

/** The largest number of rows that are all read. Of more, SOME rows are read, spread evenly. */
const WHOLE = 10_000
const SOME = 2000
const MAX_EXACT = 10_000_000
const CHUNK = 2000
/** The number of cache keys that are remembered. Further keys count as new, which can only raise the estimate. */
const MAX_KEYS = 500_000

const NOTHING_STORED: ReadonlyMap<number, string | null> = new Map()

type Tally = { run: number; cached: number; skipped: number }

export async function estimateSheet(
  db: Db,
  parts: { catalogue: Catalogue; environment: ConfigurationEnvironment },
  request: EstimateRequest,
): Promise<SheetEstimate> {
  const { sheet, definition } = request
  const actions = request.actions.flatMap((id): RunAction[] => {
    const instance = findInstance(definition, id)
    const template = instance === undefined ? undefined : parts.catalogue.get(instance.action_id)
    return instance === undefined || template === undefined ? [] : [{ instance, template }]
  })
  const { total, readCount, tallies } = await tally(db, parts.catalogue, request, actions)
  const instances = actions.map(({ instance: { id, epoch } }) => ({ action: id, epoch }))
  const findHistory = await readCellHistories(db, sheet, total === 0 ? [] : instances)
  const estimated: ReturnType<typeof viewAction>[] = []
  for (const [n, action] of actions.entries()) {
    const price = priceOf(action.template, action.instance, parts.environment)
    const expectation = expectCell(price, findHistory(action.instance.id))
    const seen = tallies[n] ?? { run: 0, cached: 0, skipped: 0 }
    estimated.push(viewAction(action, { price, expectation, seen }, { total, readCount }))
  }
  const add = (value: (one: (typeof estimated)[number]) => number) => sum(estimated.map(value))
  return {
    rows: total,
    precision: readCount < total && request.rows.kind !== 'new' ? 'sampled' : 'exact',
    cells: {
      total: total * actions.length,
      cached: add(({ cells }) => cells.cached),
      own_key: add(({ cells }) => cells.own_key),
      free: add(({ cells }) => cells.free),
      skipped: add(({ cells }) => cells.skipped),
      billable: add(({ cells }) => cells.billable),
    },
    credits: {
      expected: add(({ view }) => view.credits.expected),
      at_most: add(({ view }) => view.credits.at_most),
      saved_by_cache: add(({ savedByCache }) => savedByCache),
      saved_by_own_keys: add(({ savedByOwnKeys }) => savedByOwnKeys),
    },
    actions: estimated.map(({ view }) => view),
    running: new Map(estimated.map(({ view, running }) => [view.action_instance_id, running])),
  }
}

/** Reads rows and counts, for each action, the cells that may run, those with a cached result and those known not to run. */
async function tally(
  db: Db,
  catalogue: Catalogue,
  { sheet, definition, rows, exact }: EstimateRequest,
  actions: readonly RunAction[],
): Promise<{ total: number; readCount: number; tallies: Tally[] }> {
  const tallies = actions.map((): Tally => ({ run: 0, cached: 0, skipped: 0 }))
  if (rows.kind === 'new') {
    for (const one of tallies) one.run = rows.count
    return { total: rows.count, readCount: rows.count, tallies }
  }
  const whole = exact ? MAX_EXACT : WHOLE
  const { total, seqs } =
    rows.kind === 'given' ? numberRows(rows.data) : await sampleRows(db, sheet, rows, { whole, some: SOME })
  const forecast = createForecast(definition, actions, {
    cached: sheet.cache_enabled,
    continueOnFail: sheet.continue_on_fail,
    knowsOutput: (actionId, name) => {
      const template = catalogue.get(actionId)
      return template === undefined || template.dynamic || Object.hasOwn(template.outputs, name)
    },
  })
  const { inside, outside } = listNamedActions(actions)
  const hasStored = sheet.cache_enabled && (await hasStoredOutputs(db, sheet))
  const keys = new KnownKeys()
  let readCount = 0
  for (let at = 0; at < seqs.length; at += CHUNK) {
    const chunk = seqs.slice(at, at + CHUNK)
    const found =
      rows.kind === 'given'
        ? chunk.map((place) => viewRow(rows.data[place]))
        : await listForeseenRows(db, sheet, chunk, outside)
    readCount += found.length
    const foreseen = found.map(forecast)
    for (const [place, { instance }] of actions.entries()) {
      const { id, epoch } = instance
      const counts = tallies[place] ?? { run: 0, cached: 0, skipped: 0 }
      const asked = countCells(foreseen, place, counts)
      if (asked.length === 0) continue
      const wanted = { action: id, epoch, keys: asked.map(({ key }) => key), isRead: inside.has(id) }
      const stored = hasStored ? await findStoredOutputs(db, sheet, wanted) : NOTHING_STORED
      for (const [n, { key, row }] of asked.entries()) {
        const outputs = stored.get(n)
        if (typeof outputs === 'string') row.store(place, outputs)
        const isRepeated = outputs === undefined && keys.remember(`${id} ${key}`)
        if (outputs === undefined && !isRepeated) continue
        counts.run -= 1
        counts.cached += 1
      }
    }
  }
  return { total, readCount, tallies }
}

/** Counts the cells of the action at a place, and lists those that may be in the cache. */
function countCells(rows: readonly RowForecast[], place: number, counts: Tally) {
  const asked: { key: string; row: RowForecast }[] = []
  for (const row of rows) {
    const cell = row.foresee(place)
    if (cell === 'skipped') {
      counts.skipped += 1
      continue
    }
    counts.run += 1
    if (cell.key !== null) asked.push({ key: cell.key, row })
  }
  return asked
}

/** The keys of cells that are not in the cache yet, and will be once the first of them has run. */
class KnownKeys {
  readonly #names = new Set<string>()

  /** Remembers a key. Returns whether it was known already. */
  remember(name: string): boolean {
    if (this.#names.has(name)) return true
    if (this.#names.size < MAX_KEYS) this.#names.add(name)
    return false
  }
}

/** Numbers the rows of a request by their places. */
const numberRows = (data: readonly string[]) => ({ total: data.length, seqs: [...data.keys()] })

const viewRow = (data = '{}'): ForeseenRow => ({
  data: Buffer.byteLength(data) <= MAX_FORESEEN_BYTES ? data : null,
  cells: null,
})

/**
 * Lists the actions that the run's actions refer to. Of actions inside the run the cached results are read, of actions
 * outside it the cells.
 */
function listNamedActions(actions: readonly RunAction[]): { inside: Set<string>; outside: string[] } {
  const running = new Set(actions.map(({ instance }) => instance.id))
  const tokens = actions.flatMap(({ instance }) => listTokens([instance.inputs, instance.run_if ?? null]))
  const named = new Set(tokens.flatMap(({ token }) => ('action' in token ? [token.action] : [])))
  const outside = [...named].filter((id) => !running.has(id))
  return { inside: new Set([...named].filter((id) => running.has(id))), outside }
}

function viewAction(
  { instance, template }: RunAction,
  { price, expectation, seen }: { price: CellPrice; expectation: Expectation; seen: Tally },
  { total, readCount }: { total: number; readCount: number },
) {
  const scale = readCount === 0 ? 0 : total / readCount
  const scaled = { cached: Math.round(seen.cached * scale), skipped: Math.round(seen.skipped * scale) }
  const run = total - scaled.cached - scaled.skipped
  // Rows that were not read may run and cost credits; the bound includes them.
  const mayRun = seen.run + (total - readCount)
  const billable = price.atMost > 0
  const { atMost } = price
  return {
    view: {
      action_instance_id: instance.id,
      action_id: template.id,
      cells: total,
      credits: { expected: sum([run * expectation.credits]), at_most: sum([mayRun * atMost]) },
      basis: expectation.basis,
      providers: [...price.steps, ...price.checks].map((step) => {
        const { hitRate = null, credits = 0 } = expectation.byStep.get(step) ?? {}
        const most = step.configured && !step.ownKey ? Math.max(step.credits, step.missCredits) : 0
        const times = price.checks.includes(step) ? price.steps.filter((one) => one.configured).length : 1
        return {
          provider: step.provider,
          credits: step.credits,
          miss_credits: step.missCredits,
          own_key: step.ownKey,
          configured: step.configured,
          hit_rate: hitRate === null ? null : Math.round(hitRate * 1000) / 1000,
          expected: sum([run * credits]),
          at_most: sum([mayRun * times * most]),
        }
      }),
    },
    running: { expected: run, atMost: mayRun },
    cells: {
      ...scaled,
      billable: billable ? run : 0,
      own_key: !billable && price.ownKeyOnly ? run : 0,
      free: !billable && !price.ownKeyOnly ? run : 0,
    },
    savedByCache: sum([scaled.cached * expectation.credits]),
    savedByOwnKeys: sum([run * price.ownCredits]),
  }
}
