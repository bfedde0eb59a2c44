import type { FastifyRequest } from 'fastify'
import type { SpendingTrigger } from '#contract/budgets.ts'
import { success } from '#contract/envelope.ts'
import { Estimate } from '#contract/estimates.ts'
import { ok } from '../../api/http/envelope.ts'
import type { RouteServices } from '../../api/http/event-streams.ts'
import { giveKeyBack } from '../../api/http/idempotency.ts'
import { readEnvironment } from '../../sheets/configuration-environment.ts'
import { getDefinition } from '../../sheets/store/definitions.ts'
import type { SheetRecord } from '../../sheets/store/sheets.ts'
import { listSpendable } from '../budgets.ts'
import type { EstimateRequest } from '../estimates/estimate.ts'
import { addLimits, makeEstimate } from '../estimates/whole-estimate.ts'
import type { PricedCatalogue } from '../prices.ts'

export type EstimateServices = Pick<RouteServices, 'prices' | 'config' | 'egress'>

/** The response to `dry_run: true` of every call that may spend credits (M4). */
export const DRY_RUN_ANSWER = success(200, Estimate)

export type DryRun = {
  /** The credits left of the cap. */
  maxCredits: number | undefined
  trigger: SpendingTrigger
  /** The prices of the run that is resumed; otherwise the current ones. */
  prices?: Pick<PricedCatalogue, 'catalogue' | 'version'>
}

/** The parts of a run, which may begin at different actions. */
type EstimateRequests = readonly [EstimateRequest, ...EstimateRequest[]]

/** Responds with the cost of the call. The call has no effect, and its `Idempotency-Key` stays free. */
export async function answerDryRun(
  request: FastifyRequest,
  services: EstimateServices,
  given: DryRun,
  ...wanted: EstimateRequests
) {
  await giveKeyBack(request)
  return answerEstimate(request, services, given, ...wanted)
}

export async function answerEstimate(
  request: FastifyRequest,
  { prices, config, egress }: EstimateServices,
  { maxCredits, trigger, prices: pinned }: DryRun,
  ...wanted: EstimateRequests
) {
  const { db } = request
  const { sheet } = wanted[0]
  const { catalogue, version } = pinned ?? (await prices.current(db))
  const parts = {
    catalogue,
    version,
    environment: await readEnvironment(db, sheet, { config, egress }),
    maxCredits,
    budgets: await listBudgetsFor(request, sheet, trigger),
  }
  const { estimate, warnings } = await makeEstimate(db, parts, ...wanted)
  request.warnings.push(...warnings)
  return ok(estimate)
}

/** Responds with the cost of a connection that brings rows from now on. It starts with the existing rows. */
export async function answerArrivals(
  request: FastifyRequest,
  services: EstimateServices,
  given: DryRun,
  { sheet, rows }: { sheet: SheetRecord; rows: number },
) {
  await giveKeyBack(request)
  const definition = await getDefinition(request.db, sheet)
  request.warnings.push(MORE_TO_COME)
  return answerEstimate(request, services, given, {
    sheet,
    definition,
    actions: definition.actions.map(({ id }) => id),
    rows: { kind: 'new', count: rows },
    exact: false,
  })
}

const MORE_TO_COME = {
  field: 'body',
  code: 'unbounded',
  message: 'rows that arrive later are not part of this estimate; max_credits limits their cost',
}

/** The costs of units without a sheet: calls of the agent, or pulls of a source. */
export type UnitCosts = {
  /** The largest number of units; null if it is unknown. */
  units: number | null
  credits: number
  isOwnKey: boolean
  maxCredits: number | undefined
  trigger: SpendingTrigger
}

/** Responds with the cost of units that have a price each. */
export async function answerUnits(
  request: FastifyRequest,
  { prices }: Pick<RouteServices, 'prices'>,
  { units, credits, isOwnKey, maxCredits, trigger }: UnitCosts,
) {
  const db = await giveKeyBack(request)
  const count = units ?? 0
  const total = Math.round(count * credits * 1000) / 1000
  const kind = isOwnKey ? 'own_key' : credits === 0 ? 'free' : 'billable'
  const none = { cached: 0, own_key: 0, free: 0, skipped: 0, billable: 0 }
  const costs = {
    rows: count,
    revision: 0,
    price_version: (await prices.current(db)).version,
    precision: 'exact' as const,
    cells: { total: count, ...none, [kind]: count },
    credits: {
      expected: total,
      at_most: units === null && credits > 0 ? null : total,
      saved_by_cache: 0,
      saved_by_own_keys: 0,
    },
    actions: [],
    downstream: [],
  }
  const limits = { maxCredits, budgets: await listBudgetsFor(request, null, trigger) }
  const { estimate, warnings } = await addLimits(db, request.caller.orgId, limits, costs)
  request.warnings.push(...warnings)
  return ok(estimate)
}

/** The triggers that later start runs without the key of the member who set them up. */
const WITHOUT_KEY: ReadonlySet<SpendingTrigger> = new Set(['source', 'segment'])

const listBudgetsFor = (
  { db, caller }: FastifyRequest,
  sheet: SheetRecord | null,
  trigger: SpendingTrigger,
) =>
  listSpendable(db, {
    orgId: caller.orgId,
    email: caller.email,
    keyId: WITHOUT_KEY.has(trigger) ? null : caller.keyId,
    sheet,
    trigger,
  })
