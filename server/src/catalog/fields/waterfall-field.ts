import type { Warning } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import { isObject } from '../../lib/json/object.ts'
import {
  type Checked,
  describeField,
  type Field,
  type FieldTexts,
  type ProviderOption,
  type ProviderPrice,
  type WaterfallStep,
} from './field.ts'

export type { WaterfallStep }

/** The providers that can be called, and the configured steps in their order. */
export type ConfiguredWaterfall<Source> = {
  adapters: readonly Source[]
  steps: readonly WaterfallStep[]
  order?: WaterfallOrder | undefined
}

export const WATERFALL_ORDERS = ['as_listed', 'cheapest_per_find'] as const
export type WaterfallOrder = (typeof WATERFALL_ORDERS)[number]

/**
 * Defines a field for an ordered list of providers, the primary one first. They are tried in order until one gives a
 * verified answer.
 */
export function waterfall<Source extends { option: ProviderOption }>(
  options: FieldTexts & {
    adapters: readonly Source[]
    /** The providers that are used when none are configured. By default all, in their order. */
    default?: readonly Source[]
    /** Further providers that can be listed. */
    also?: readonly ProviderOption[]
    /** Accepts one name instead of a list of one. */
    takesOne?: true
    /** Set if the action has other ways to answer. */
    isExtra?: true
  },
): Field<ConfiguredWaterfall<Source>> {
  const { adapters, also = [], takesOne = false, isExtra = false } = options
  const providers = [...adapters.map(({ option }) => option), ...also]
  const usual = (options.default ?? adapters).map(({ option }) => ({ provider: option.id, own_key: false }))
  return {
    type: 'stepDownSearch',
    required: false,
    ...describeField(options, 'waterfall'),
    waterfall: {
      providers,
      usual,
      isExtra,
      reprice: (priceOf) =>
        waterfall({
          ...options,
          adapters: adapters.map((source) => atPrice(source, priceOf(source.option))),
          default: options.default ?? adapters,
        }),
    },
    check: (raw, path, current) =>
      checkSteps(takesOne && !Array.isArray(raw) ? [raw] : raw, path, providers, asSteps(current)),
    show: (configured) => showSteps(asSteps(configured), providers),
    resolve: (configured) => configured,
    read: (resolved) => ({ adapters, steps: resolved === undefined ? usual : stepsOf(resolved) }),
  }
}

function atPrice<Source extends { option: ProviderOption }>(
  source: Source,
  { credits, missCredits }: ProviderPrice,
): Source {
  const option = { ...source.option, credits, missCredits }
  return { ...source, option, price: credits, missPrice: missCredits }
}

/** Returns the stored steps, leaving out invalid entries. */
export function asSteps(stored: unknown): WaterfallStep[] {
  return (Array.isArray(stored) ? stored : []).flatMap((item: unknown): WaterfallStep[] => {
    const { provider, own_key } = isObject(item) ? item : {}
    return typeof provider === 'string' ? [{ provider, own_key: own_key === true }] : []
  })
}

const stepsByStored = new WeakMap<object, readonly WaterfallStep[]>()

/** Returns the stored steps. They are read once for all rows of a definition, which share the configured value. */
function stepsOf(stored: unknown): readonly WaterfallStep[] {
  if (typeof stored !== 'object' || stored === null) return asSteps(stored)
  const steps = stepsByStored.get(stored) ?? asSteps(stored)
  stepsByStored.set(stored, steps)
  return steps
}

/** An item as callers send it: a name, or `{name, use_own_key}`. A plain name leaves the key state undefined. */
export type GivenStep = { name: string; ownKey: boolean | undefined; place: number }

export function readGivenSteps(raw: unknown, path: string): { steps: GivenStep[]; errors: FieldError[] } {
  if (!Array.isArray(raw))
    return { steps: [], errors: [{ field: path, message: 'must be an array of provider names' }] }
  const errors: FieldError[] = []
  const steps = raw.flatMap((item: unknown, n): GivenStep[] => {
    if (typeof item === 'string') return [{ name: item, ownKey: undefined, place: n }]
    const own = isObject(item) ? item['use_own_key'] : undefined
    if (
      isObject(item) &&
      typeof item['name'] === 'string' &&
      (own === undefined || typeof own === 'boolean')
    ) {
      return [{ name: item['name'], ownKey: own, place: n }]
    }
    errors.push({ field: `${path}[${n}]`, message: 'must be a provider name or {name, use_own_key}' })
    return []
  })
  return { steps, errors }
}

/** Returns the providers with that display name or id, ignoring case. Several match if the name is ambiguous. */
function matchProviders(name: string, providers: readonly ProviderOption[]): ProviderOption[] {
  return providers.filter((known) => isNamed(name, known))
}

function isNamed(name: string, known: { id: string; name: string }): boolean {
  const wanted = name.trim().toLowerCase()
  return known.name.toLowerCase() === wanted || known.id === wanted
}

/** Checks a list of steps. A plain name keeps the key state that the provider has in `current`. */
function checkSteps(
  raw: unknown,
  path: string,
  providers: readonly ProviderOption[],
  current: WaterfallStep[],
): Checked {
  const { steps, errors } = readGivenSteps(raw, path)
  const warnings: Warning[] = []
  const seen = new Set<string>()
  const value = steps.flatMap(({ name, ownKey, place }): WaterfallStep[] => {
    const at = `${path}[${place}]`
    const [match, other] = matchProviders(name, providers)
    if (match === undefined) {
      const known = providers.map((provider) => provider.name).join(', ')
      errors.push({ field: at, message: `unknown provider ${name}; there are: ${known}` })
      return []
    }
    if (seen.has(match.id)) errors.push({ field: at, message: `${match.name} is listed twice` })
    seen.add(match.id)
    if (other !== undefined) warnings.push(ambiguous(at, name, match))
    if (ownKey === true && !match.supportsOwnKey) {
      warnings.push(unsupported(at, match))
      return [{ provider: match.id, own_key: false }]
    }
    const kept = current.some((step) => step.provider === match.id && step.own_key)
    return [{ provider: match.id, own_key: ownKey ?? kept }]
  })
  return errors.length > 0 ? { kind: 'refuse', errors } : { kind: 'save', value, warnings }
}

function ambiguous(field: string, name: string, { id }: ProviderOption): Warning {
  return {
    field,
    code: 'ambiguous_provider',
    message: `several providers are named ${name}; ${id} was taken`,
  }
}

function unsupported(field: string, { name }: ProviderOption): Warning {
  return {
    field,
    code: 'unsupported_own_key',
    message: `${name} does not run on keys of your own; credits are used`,
  }
}

/** Reorders the configured steps. Each must be listed exactly once, and their key state does not change here. */
export function reorderSteps(
  given: GivenStep[],
  path: string,
  current: WaterfallStep[],
  providers: readonly ProviderOption[],
): { steps: WaterfallStep[]; warnings: Warning[]; errors: FieldError[] } {
  if (current.length === 0) {
    return { steps: [], warnings: [], errors: [{ field: path, message: 'no providers are configured yet' }] }
  }
  const findName = (id: string) => providers.find((known) => known.id === id)?.name ?? id
  const configured = current.map((step) => ({ step, name: findName(step.provider) }))
  const unlisted = new Set(configured)
  const warnings: Warning[] = []
  const errors: FieldError[] = []
  const steps = given.flatMap(({ name, ownKey, place }): WaterfallStep[] => {
    const field = `${path}[${place}]`
    const named = configured.filter((entry) => isNamed(name, { id: entry.step.provider, name: entry.name }))
    const next = named.find((entry) => unlisted.has(entry))
    if (next === undefined) {
      const fault = named.length === 0 ? 'is not configured for this field' : 'is listed twice'
      errors.push({ field, message: `${name} ${fault}` })
      return []
    }
    unlisted.delete(next)
    if (ownKey !== undefined && ownKey !== next.step.own_key) {
      const message = `reordering does not change whether ${next.name} uses your own key`
      warnings.push({ field, code: 'own_key_ignored', message })
    }
    return [next.step]
  })
  if (unlisted.size > 0) {
    const missing = [...unlisted].map((entry) => entry.name).join(', ')
    errors.push({ field: path, message: `must list every configured provider; missing: ${missing}` })
  }
  return { steps, warnings, errors }
}

/** A provider's name, or an object if it runs on the caller's own key. */
export type ShownStep = string | { name: string; use_own_key: true }

export function showSteps(steps: WaterfallStep[], providers: readonly ProviderOption[]): ShownStep[] {
  return steps.map(({ provider, own_key }) => {
    const name = providers.find((known) => known.id === provider)?.name ?? provider
    return own_key ? { name, use_own_key: true } : name
  })
}
