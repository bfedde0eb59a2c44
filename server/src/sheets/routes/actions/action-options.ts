import type { FastifyRequest } from 'fastify'
import type { Warning } from '#contract/envelope.ts'
import type { Field, Option, ProviderOption } from '../../../catalog/fields/field.ts'
import { offeredModels } from '../../../catalog/models/models.ts'
import type { Config } from '../../../lib/config/config.ts'
import { validationError } from '../../../lib/errors.ts'
import { type HitRate, RATE_DAYS, readHitRates } from '../../../money/store/provider-tallies.ts'
import { listAllSheets } from '../../store/sheets.ts'
import { listWorkflows } from '../../store/workflows.ts'
import { mayUse } from '../workflows/resources.ts'
import { askForOptions, PROVIDER_OPTIONS, type ProviderAccess } from './provider-options.ts'
import { RECORD_OPTIONS } from './record-options.ts'

export type OptionContext = Record<string, unknown>
type Resolver = (
  request: FastifyRequest,
  context: OptionContext,
  services: OptionServices,
) => Promise<Option[]>
type OptionServices = ProviderAccess & { config: Config }

/** The sources of options, by the name that a dropdown's definition gives in `from`. */
export const OPTION_SOURCES: ReadonlyMap<string, Resolver> = new Map<string, Resolver>([
  ['sheets', listSheetOptions],
  [
    'models',
    async (_request, _context, { config }) =>
      offeredModels(config).map((name) => ({ value: name, label: name })),
  ],
  ...Object.entries(RECORD_OPTIONS),
  ...Object.entries(PROVIDER_OPTIONS).map(([name, query]): [string, Resolver] => [
    name,
    (request, context, services) => askForOptions(query, request, context, services),
  ]),
])

export function hasOptions({ options, waterfall }: Field): boolean {
  return options !== undefined || waterfall !== undefined
}

export async function listOptions(
  { options, waterfall }: Field,
  request: FastifyRequest,
  context: OptionContext,
  services: OptionServices,
): Promise<Option[]> {
  if (waterfall !== undefined) return listProviders(waterfall.providers, request)
  if (options === undefined) return []
  if ('fixed' in options) return options.fixed
  const missing = (options.needs ?? []).filter((key) => !isGiven(context, key))
  if (missing.length > 0) {
    throw validationError(missing.map((key) => ({ field: `context.${key}`, message: 'required' })))
  }
  const resolve = OPTION_SOURCES.get(options.from)
  if (resolve === undefined) throw new Error(`no source is registered for the options "${options.from}"`)
  return resolve(request, context, services)
}

/** Returns the warning that explains why a dropdown has no options. */
export function warnOfNoOptions({ options }: Field): Warning {
  const from = options !== undefined && 'from' in options ? options.from : ''
  const message = NOTHING_YET[from] ?? `there are no ${from || 'providers'} to choose from yet`
  return { field: 'options', code: 'no_options', message }
}

const NOTHING_YET: Readonly<Record<string, string>> = {
  models:
    'no model is set up; ask the operator to set LOAM_MODELS, or connect a model provider and enter the name of its model',
  'record events': 'no record has an event yet; leave the field empty to take all that come',
}

function isGiven(context: OptionContext, key: string): boolean {
  const value = Object.hasOwn(context, key) ? context[key] : undefined
  return typeof value === 'string' && value.trim() !== ''
}

/** Lists providers with their rates for the organisation over the last 30 days, if they were asked. */
async function listProviders(
  providers: readonly ProviderOption[],
  { db, caller, action }: Pick<FastifyRequest, 'db' | 'caller' | 'action'>,
): Promise<Option[]> {
  const rates = await readHitRates(db, caller.orgId, { days: RATE_DAYS, action: action.action_id })
  return providers
    .filter(({ disabled }) => !disabled)
    .map(({ name, supportsOwnKey, requiresOwnKey, credits }) => {
      const rate = rates.find(({ provider }) => provider === name)
      return {
        value: name,
        label: name,
        extras: {
          supports_own_key: supportsOwnKey,
          requires_own_key: requiresOwnKey,
          ...(credits === undefined ? {} : { credits }),
          ...(rate === undefined ? {} : { last_30_days: printRate(rate) }),
        },
      }
    })
}

function printRate({ action: _action, provider: _provider, ...rate }: HitRate): Record<string, unknown> {
  return rate
}

/** Lists every sheet that the caller may use, by workflow. */
async function listSheetOptions({ caller, db }: FastifyRequest): Promise<Option[]> {
  const [workflows, sheets] = await Promise.all([
    listWorkflows(db, caller.orgId, caller.memberId),
    listAllSheets(db, caller.orgId),
  ])
  return workflows
    .filter((workflow) => mayUse(caller, workflow))
    .flatMap(({ workflow_id, name }) =>
      (sheets.get(workflow_id) ?? []).map((sheet) => ({
        value: sheet.sheet_id,
        label: `${name} / ${sheet.name}`,
      })),
    )
}
