import type { FastifyRequest } from 'fastify'
import { HUBSPOT_OPTIONS } from '../../../catalog/crm/hubspot-options.ts'
import { SALESFORCE_OPTIONS } from '../../../catalog/crm/salesforce-options.ts'
import { hasToken, type Option } from '../../../catalog/fields/field.ts'
import type { ProviderKeys } from '../../../catalog/provider/access.ts'
import type { OptionQuery, SendRequest } from '../../../catalog/provider/options.ts'
import type { Refusal } from '../../../catalog/provider/reply.ts'
import { AIRTABLE_OPTIONS } from '../../../catalog/push/airtable.ts'
import { ATTIO_OPTIONS } from '../../../catalog/push/attio.ts'
import { CAMPAIGN_OPTIONS } from '../../../catalog/push/campaigns.ts'
import { GOOGLE_SHEETS_OPTIONS } from '../../../catalog/push/google-sheets.ts'
import { NOTION_OPTIONS } from '../../../catalog/push/notion-properties.ts'
import { PIPEDRIVE_OPTIONS } from '../../../catalog/push/pipedrive.ts'
import { SNOWFLAKE_OPTIONS } from '../../../catalog/push/snowflake.ts'
import type { Egress } from '../../../lib/egress/egress.ts'
import type { AppError } from '../../../lib/errors.ts'
import { invalid, tooManyRequests } from '../../../lib/errors.ts'
import type { SheetRecord } from '../../store/sheets.ts'

const TIMEOUT_MS = 25_000
const RETRY_AFTER_S = 10

/** The dropdowns whose options a provider lists, by the name that their definitions give in `from`. */
export const PROVIDER_OPTIONS: Readonly<Record<string, OptionQuery>> = {
  ...SALESFORCE_OPTIONS,
  ...HUBSPOT_OPTIONS,
  ...PIPEDRIVE_OPTIONS,
  ...ATTIO_OPTIONS,
  ...AIRTABLE_OPTIONS,
  ...GOOGLE_SHEETS_OPTIONS,
  ...NOTION_OPTIONS,
  ...SNOWFLAKE_OPTIONS,
  ...CAMPAIGN_OPTIONS,
}

export type ProviderAccess = { egress: Egress; keysOf: (sheet: SheetRecord) => ProviderKeys }

/**
 * Lists options from the provider of the caller's connection: the connection of the context, that of the action, or the only
 * one (D66).
 */
export async function askForOptions(
  query: OptionQuery,
  { action, sheet }: Pick<FastifyRequest, 'action' | 'sheet'>,
  context: Record<string, unknown>,
  { egress, keysOf }: ProviderAccess,
): Promise<Option[]> {
  const { provider } = query
  const [about, within] = [query.parent, query.within].map((parent) => {
    const value = textAt(context, parent?.field ?? '') ?? ''
    if (parent === undefined || parent.fits(value)) return value
    throw invalid(
      `context.${parent.field}`,
      `"${value.slice(0, 100)}" is not one that ${provider.name} can have`,
    )
  })
  const named = textAt(context, 'connection') ?? textAt(action.inputs, 'connection')
  const connection = named === undefined || hasToken(named) ? undefined : named
  const key = await keysOf(sheet).own(provider.id, connection)
  if (key === null) {
    const which = connection === undefined ? '' : ` by the name "${connection}"`
    throw invalid(
      'connection',
      `${provider.name} is not connected${which}; add it with loam connection add --provider ${provider.id}`,
    )
  }
  const lent = { egress, signal: AbortSignal.timeout(TIMEOUT_MS), now: () => new Date() }
  const send: SendRequest = (request, schema) => provider.request(lent, key, request, schema)
  const answer = await query.list(send, about ?? '', within ?? '')
  if (answer.ok) return answer.body
  throw toError(answer.refusal, query)
}

/** Turns a provider's refusal into an error with its reason. A rate limit of the provider becomes 429 (D57). */
function toError(refusal: Refusal, { provider, parent }: OptionQuery): AppError {
  const reason = refusal.kind === 'miss' ? 'there is nothing of that kind' : refusal.message
  const message = `${provider.name}: ${reason}`
  if (refusal.kind === 'rate_limited') {
    const retryAfter = Math.ceil((refusal.afterMs ?? RETRY_AFTER_S * 1000) / 1000)
    return tooManyRequests(message, retryAfter)
  }
  const isAboutContext = refusal.kind === 'ineligible' && parent !== undefined
  return invalid(isAboutContext ? `context.${parent.field}` : 'connection', message)
}

function textAt(from: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = Object.hasOwn(from, name) ? from[name] : undefined
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
}
