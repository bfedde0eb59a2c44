import type { FieldError } from '#contract/errors.ts'
import { type Checked, type Field, isObject, type ProviderOption } from './field.ts'

/** A configured step of a waterfall. Stored by provider id; callers see display names (D37). */
export type WaterfallStep = { provider: string; own_key: boolean }

/** An ordered list of providers, first is primary. Tried in order until one gives a verified answer. */
export function waterfall(options: {
  description: string
  required?: boolean
  providers: readonly ProviderOption[]
}): Field<WaterfallStep[]> {
  const { providers, description, required = false } = options
  return {
    type: 'stepDownSearch',
    required,
    description,
    waterfall: { providers },
    check: (raw, path) => checkSteps(raw, path, providers),
    show: (configured) => showSteps(asSteps(configured), providers),
    resolve: (configured) => configured,
    read: asSteps,
  }
}

export function asSteps(stored: unknown): WaterfallStep[] {
  return Array.isArray(stored) ? (stored as WaterfallStep[]) : []
}

/** An item as callers send it: a name, or `{name, use_own_key}`. Plain names leave the key state open. */
export type GivenStep = { name: string; ownKey: boolean | undefined }

export function readGivenSteps(raw: unknown, path: string): { steps: GivenStep[]; errors: FieldError[] } {
  if (!Array.isArray(raw))
    return { steps: [], errors: [{ field: path, message: 'must be an array of provider names' }] }
  const errors: FieldError[] = []
  const steps = raw.flatMap((item: unknown, n): GivenStep[] => {
    if (typeof item === 'string') return [{ name: item, ownKey: undefined }]
    const own = isObject(item) ? item['use_own_key'] : undefined
    if (
      isObject(item) &&
      typeof item['name'] === 'string' &&
      (own === undefined || typeof own === 'boolean')
    ) {
      return [{ name: item['name'], ownKey: own }]
    }
    errors.push({ field: `${path}[${n}]`, message: 'must be a provider name or {name, use_own_key}' })
    return []
  })
  return { steps, errors }
}

/** Providers by display name or id, without regard to case; several when the name is ambiguous. */
export function matchProviders(name: string, providers: readonly ProviderOption[]): ProviderOption[] {
  const wanted = name.trim().toLowerCase()
  return providers.filter((known) => known.name.toLowerCase() === wanted || known.id === wanted)
}

function checkSteps(raw: unknown, path: string, providers: readonly ProviderOption[]): Checked {
  const { steps, errors } = readGivenSteps(raw, path)
  const seen = new Set<string>()
  const value = steps.flatMap(({ name, ownKey }, n): WaterfallStep[] => {
    const [match] = matchProviders(name, providers)
    if (match === undefined) {
      const known = providers.map((provider) => provider.name).join(', ')
      errors.push({ field: `${path}[${n}]`, message: `unknown provider ${name}; there are: ${known}` })
      return []
    }
    if (seen.has(match.id)) errors.push({ field: `${path}[${n}]`, message: `${match.name} is listed twice` })
    seen.add(match.id)
    return [{ provider: match.id, own_key: ownKey ?? false }]
  })
  return errors.length > 0 ? { kind: 'refuse', errors } : { kind: 'save', value }
}

function showSteps(steps: WaterfallStep[], providers: readonly ProviderOption[]): unknown[] {
  return steps.map(({ provider, own_key }) => {
    const name = providers.find((known) => known.id === provider)?.name ?? provider
    return own_key ? { name, use_own_key: true } : name
  })
}
