import type { CatalogueAction, CatalogueEntry } from '#contract/catalogue.ts'
import { AppError } from '../lib/errors.ts'
import { didYouMean } from '../lib/nearest-name.ts'
import type { Action } from './define.ts'
import { describeInputs } from './describe.ts'
import type { Field } from './fields/field.ts'
import type { Catalogue } from './registry.ts'

/** An action as the catalogue of the program has it, without what differs between organisations. */
type Listed = Omit<CatalogueEntry, 'has_key'>

export function viewEntry(action: Action): Listed {
  const { id, name, category, credits, description, pure, synonyms, needs } = action
  return {
    action_id: id,
    name,
    category,
    credits,
    ...providerPrices(action),
    price: priceOf(action),
    needs_key: needsKey(action),
    pure,
    description,
    synonyms: [...synonyms],
    providers: listProviders(action),
    inputs: describeInputs(action).map((input) => ({ ...input, ...listChoices(action.inputs[input.name]) })),
    needs: needs.map((set) => [...set]),
  }
}

export function viewAction(action: Action): Omit<CatalogueAction, 'has_key'> {
  const { timeoutSeconds, retries, dynamic } = action
  return {
    ...viewEntry(action),
    timeout_seconds: timeoutSeconds,
    retries,
    outputs: Object.entries(action.outputs).map(([name, { type, description, columns }]) => ({
      name,
      type,
      description,
      ...(columns === undefined ? {} : { columns }),
    })),
    dynamic_outputs: dynamic,
  }
}

/** Returns the names of the providers that an action can ask, each once. */
function listProviders({ inputs }: Action): string[] {
  const names = Object.values(inputs).flatMap(({ waterfall, connects }) => [
    ...(waterfall?.providers ?? []).filter(({ asksNobody }) => asksNobody !== true).map(({ name }) => name),
    ...(connects === undefined ? [] : [connects.name]),
  ])
  return [...new Set(names)]
}

/**
 * Returns the action with that id. Otherwise throws a 404 that names the nearest id, or says `where` ids are listed.
 */
export function requireTemplate(catalogue: Catalogue, id: string, where: string): Action {
  const action = catalogue.get(id)
  if (action !== undefined) return action
  const ids = catalogue.list().map((one) => one.id)
  throw new AppError('Not Found', `There is no action ${id}${didYouMean(id, ids) || `; ${where}`}`)
}

/** Returns the total price of an answer with the cheapest and with the dearest provider, if the action calls any. */
export function priceOf(action: Action): { min: number; max: number } {
  const { min, max } = providerPrices(action).provider_credits ?? { min: 0, max: 0 }
  const add = (credits: number) => Math.round((action.credits + credits) * 1000) / 1000
  return { min: add(min), max: add(max) }
}

/**
 * Returns the lowest and the highest price of an action's providers on the installation's key, or nothing if it has
 * none.
 */
function providerPrices({ inputs }: Action): { provider_credits?: { min: number; max: number } } {
  const prices = Object.values(inputs)
    .flatMap(({ waterfall }) => waterfall?.providers ?? [])
    .filter(({ asksNobody }) => asksNobody !== true)
    .map(({ credits = 0 }) => credits)
  if (prices.length === 0) return {}
  return { provider_credits: { min: Math.min(...prices), max: Math.max(...prices) } }
}

/** Returns true if the action can call nothing without a connection or a provider's key. */
function needsKey({ inputs }: Action): boolean {
  return Object.values(inputs).some(({ connects, waterfall }) => {
    if (connects !== undefined) return connects.otherwise === undefined
    if (waterfall === undefined || waterfall.isExtra) return false
    return waterfall.providers.every(
      ({ requiresOwnKey, needsKey: isKeyed }) => requiresOwnKey || isKeyed === true,
    )
  })
}

/** Returns the options or the providers of a field, if the definition lists them. */
export function listChoices(field: Field | undefined): {
  options?: string[]
  option_labels?: string[]
  providers?: string[]
} {
  if (field?.waterfall !== undefined) return { providers: field.waterfall.providers.map(({ name }) => name) }
  return field?.options !== undefined && 'fixed' in field.options
    ? {
        options: field.options.fixed.map(({ value }) => value),
        option_labels: field.options.fixed.map(({ label }) => label),
      }
    : {}
}
