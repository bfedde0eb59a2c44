import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { success } from '#contract/envelope.ts'
import { Waterfall, WaterfallQuery } from '#contract/waterfalls.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { RouteServices } from '../../../api/http/event-streams.ts'
import type { Api } from '../../../api/services.ts'
import type { ActionInstance } from '../../../catalog/chain/definition.ts'
import type { ConfigurationEnvironment } from '../../../catalog/configuration/environment.ts'
import { canBeAsked } from '../../../catalog/configuration/inspection.ts'
import type { ProviderOption, WaterfallOffer, WaterfallStep } from '../../../catalog/fields/field.ts'
import { asSteps } from '../../../catalog/fields/waterfall-field.ts'
import { sortByFinds } from '../../../catalog/provider/waterfall-order.ts'
import { notFound } from '../../../lib/errors.ts'
import { type HitRate, RATE_DAYS, readHitRates } from '../../../money/store/provider-tallies.ts'
import { readEnvironment } from '../../configuration-environment.ts'
import { actionFieldOfPath, ActionFieldParams, requireField } from './action-resources.ts'
import { BASE } from './actions.ts'

/** Registers the endpoint that shows which providers a waterfall really asks, and what they did lately. */
export function waterfallRoutes(api: Api, { catalogue, prices, config, egress }: RouteServices): void {
  api.get(
    `${BASE}/:action_instance_id/waterfall/:field_name`,
    {
      config: {
        scope: 'actions:read',
        resource: actionFieldOfPath(catalogue, (field) => field.waterfall !== undefined),
      },
      schema: {
        tags: ['Actions'],
        summary: 'List the providers that a waterfall asks, in order, with prices, keys and hit rates',
        params: ActionFieldParams,
        querystring: WaterfallQuery,
        response: { 200: success(200, Waterfall) },
      },
    },
    async (request) => {
      const { catalogue: priced } = await prices.current(request.db)
      const { waterfall } = requireField(priced, request)
      if (waterfall === undefined) throw notFound('Field')
      const asked = { field: request.params.field_name, waterfall, all: request.query.all === 'true' }
      return ok(await readWaterfall(request, asked, { config, egress }))
    },
  )
}

/** Reads which providers a waterfall of the request's action asks, with their keys, and what they did lately. */
export async function readWaterfall(
  { db, caller, sheet, action }: Pick<FastifyRequest, 'db' | 'caller' | 'sheet' | 'action'>,
  { all, ...shown }: { field: string; waterfall: WaterfallOffer; all: boolean },
  installation: Pick<RouteServices, 'config' | 'egress'>,
): Promise<z.input<typeof Waterfall>> {
  const environment = await readEnvironment(db, sheet, installation)
  const rates = await readHitRates(db, caller.orgId, { days: RATE_DAYS, action: action.action_id })
  return viewWaterfall({ ...shown, action }, environment, { rates, all })
}

type Shown = { action: ActionInstance; field: string; waterfall: WaterfallOffer }
type Wanted = { rates: readonly HitRate[]; all: boolean }

function viewWaterfall(
  { action: { inputs }, field, waterfall }: Shown,
  environment: ConfigurationEnvironment,
  { rates, all }: Wanted,
): z.input<typeof Waterfall> {
  const { providers, usual } = waterfall
  const saved = asSteps(Object.hasOwn(inputs, field) ? inputs[field] : undefined)
  const listed = saved.length > 0 ? saved : usual
  const sortsByPrice = Object.hasOwn(inputs, 'order') && inputs['order'] === 'cheapest_per_find'
  const steps = sortsByPrice
    ? sortByFinds(listed, providers, readRates(rates)).map(({ step }) => step)
    : listed
  const optionOf = ({ provider }: WaterfallStep) => providers.find(({ id }) => id === provider)
  const asksNobody = steps.some((step) => optionOf(step)?.asksNobody === true)
  const view = (step: WaterfallStep, isListed: boolean) => {
    const option = optionOf(step)
    if (option === undefined) return []
    const canAsk = option.disabled !== true && canBeAsked(option, step, environment)
    const rate = rates.find(({ provider }) => provider === option.name)
    return [
      {
        ...viewPrice(option),
        key: canAsk ? (step.own_key ? ('own' as const) : ('installation' as const)) : ('none' as const),
        asked: isListed && canAsk && !asksNobody,
        ...(all && { listed: isListed }),
        ...viewRate(rate),
      },
    ]
  }
  const others = all ? providers.filter(({ id }) => !steps.some(({ provider }) => provider === id)) : []
  return {
    is_default: saved.length === 0,
    providers: [
      ...steps.flatMap((step) => view(step, true)),
      ...others.flatMap((option) => view(chooseStep(option, environment), false)),
    ],
  }
}

/** Returns the step by which a provider can be asked: with the key of the installation, or else with one of the organisation. */
function chooseStep(option: ProviderOption, environment: ConfigurationEnvironment): WaterfallStep {
  const step = { provider: option.id, own_key: false }
  const own = { ...step, own_key: true }
  return !canBeAsked(option, step, environment) && canBeAsked(option, own, environment) ? own : step
}

const viewPrice = ({
  name,
  credits = 0,
  missCredits = 0,
  supportsOwnKey,
  requiresOwnKey,
}: ProviderOption) => ({
  provider: name,
  credits,
  miss_credits: missCredits,
  supports_own_key: supportsOwnKey || requiresOwnKey,
})

const viewRate = (rate: HitRate | undefined) => ({
  hit_rate:
    rate === undefined || rate.asked === 0 ? null : Math.round((rate.found / rate.asked) * 1000) / 1000,
  found: rate?.found ?? 0,
  median_ms: rate?.p50_ms ?? null,
})

/** Reads rates as cells do that order their providers. */
const readRates = (rates: readonly HitRate[]) =>
  rates.map(({ provider, asked, found, price_per_find }) => ({
    provider,
    asked,
    found,
    credits: (price_per_find ?? 0) * found,
  }))
