import type { Option } from '../catalog/fields/field.ts'
import type { ProviderKeys } from '../catalog/provider/access.ts'
import { AppError, validationError } from '../lib/errors.ts'
import type { Source, SourceOptions } from './define.ts'
import { callProvider, isReached, reachSource, type SourceServices } from './reach.ts'
import { toCallerError } from './refusals.ts'

export type OptionContext = Readonly<Record<string, unknown>>
type Lent = { keys: ProviderKeys; services: SourceServices }

/** Lists the choices of one field, from the caller's account if only the account knows them. */
export async function listSourceOptions(
  source: Source,
  field: string,
  context: OptionContext,
  { keys, services }: Lent,
): Promise<readonly Option[]> {
  const options = Object.hasOwn(source.options, field) ? source.options[field] : undefined
  if (options === undefined) throw new AppError('Not Found', describeUnknownField(source, field))
  if (isFixed(options)) return options
  const { needs = {}, provider = source.pulls[0]?.provider } = options
  if (provider === undefined) throw new Error(`no provider for the options of ${source.slug}.${field}`)
  const given = readContext(needs, context)
  const connection = textAt(context, ['connection_id', 'connectionId', 'connection']) ?? null
  // Reaches the account of that provider, whichever of the source's pulls it serves.
  const asked = {
    ...source,
    pulls: [{ provider, price: 0, skipExisting: () => null, model: null, read: NEVER }],
  }
  const reached = await reachSource(asked, { provider: null, connection, body: {} }, keys, services)
  if (!isReached(reached)) throw validationError([reached])
  const reply = await options.list(
    (request, schema) => callProvider(provider, reached.key, services, { request, schema }),
    given,
  )
  if (reply.ok) return reply.body
  throw toCallerError(
    reply.refusal,
    provider,
    reply.refusal.kind === 'ineligible' ? 'context' : 'connection_id',
  )
}

const NEVER = async () => ({ records: [], next: null })

function isFixed(options: Source['options'][string]): options is readonly Option[] {
  return Array.isArray(options)
}

function readContext(
  needs: NonNullable<SourceOptions['needs']>,
  context: OptionContext,
): Record<string, string> {
  const found = Object.entries(needs).map(([name, others]) => {
    const spellings = [...new Set([name, toCamel(name), ...others])]
    return { name, spellings, value: textAt(context, spellings) }
  })
  const missing = found.filter(({ value }) => value === undefined)
  if (missing.length > 0) {
    throw validationError(
      missing.map(({ name, spellings }) => ({
        field: `context.${name}`,
        message: `required; accepted spellings: ${spellings.join(', ')}`,
      })),
    )
  }
  return Object.fromEntries(found.map(({ name, value }) => [name, value ?? '']))
}

function textAt(context: OptionContext, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = Object.hasOwn(context, name) ? context[name] : undefined
    if (typeof value === 'string' && value.trim() !== '') return value.trim()
    if (typeof value === 'number') return String(value)
  }
  return undefined
}

function toCamel(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase())
}

function describeUnknownField(source: Source, field: string): string {
  const names = Object.keys(source.options)
  const there =
    names.length === 0 ? 'none of its fields has options' : `fields with options: ${names.join(', ')}`
  return `${source.slug} has no options for ${field.slice(0, 100)}; ${there}`
}
