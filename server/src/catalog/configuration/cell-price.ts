import type { ActionInstance, ConfiguredValue } from '../chain/definition.ts'
import type { Action } from '../define.ts'
import { hasToken, type WaterfallOffer, type WaterfallStep } from '../fields/field.ts'
import { asSteps } from '../fields/waterfall-field.ts'
import type { ConfigurationEnvironment } from './environment.ts'
import { canBeAsked } from './inspection.ts'

/** A provider that a cell may call, at today's prices. */
export type PricedStep = {
  field: string
  provider: string
  credits: number
  missCredits: number
  ownKey: boolean
  /** Set if the provider can be called when its turn comes: it has a key, or needs none. */
  configured: boolean
}

/** The price of one cell of an action as the action is configured. */
export type CellPrice = {
  /** The action's own price. */
  credits: number
  /** The providers that answer the question, and those that then check each answer. */
  steps: PricedStep[]
  checks: PricedStep[]
  /** The highest price of a cell, whatever providers are called and whatever they answer. */
  atMost: number
  /** Set if all calls run on keys of the organisation, which costs nothing. */
  ownKeyOnly: boolean
  /** The list price of calls on the organisation's keys. */
  ownCredits: number
}

/**
 * Returns the price of a cell. Each step of the first waterfall is paid for at most once. After each step that answers,
 * those of the other waterfalls may check the answer.
 */
export function priceOf(
  action: Action,
  { inputs }: Pick<ActionInstance, 'inputs'>,
  environment: ConfigurationEnvironment,
): CellPrice {
  const lists = Object.entries(action.inputs).flatMap(([field, { waterfall }]) =>
    waterfall === undefined
      ? []
      : [priceSteps(field, Object.hasOwn(inputs, field) ? inputs[field] : undefined, waterfall, environment)],
  )
  const [steps = [], ...others] = lists
  const checks = others.flat()
  const getHighestPrice = ({ configured, ownKey, credits, missCredits }: PricedStep) =>
    configured && !ownKey ? Math.max(credits, missCredits) : 0
  const checking = sum(checks.map(getHighestPrice))
  const usableSteps = steps.filter(({ configured }) => configured)
  const ownModel = action.paysModel && asksOwnModel(action, inputs, environment)
  const credits = ownModel ? 0 : action.credits
  const atMost = sum([credits, ...usableSteps.map((step) => sum([getHighestPrice(step), checking]))])
  const ownKeyOnly = atMost === 0 && (ownModel || [...usableSteps, ...checks].some(({ ownKey }) => ownKey))
  const firstOwn = usableSteps.find(({ ownKey }) => ownKey)?.credits ?? 0
  const ownCredits = ownKeyOnly ? (ownModel ? action.credits : firstOwn) : 0
  return { credits, steps, checks, atMost, ownKeyOnly, ownCredits }
}

/** Returns true if the model certainly runs on a connection: a named one, or the only one that offers its models. */
function asksOwnModel(
  action: Action,
  inputs: ActionInstance['inputs'],
  { connectionsOf }: ConfigurationEnvironment,
): boolean {
  const field = Object.entries(action.inputs).find(
    ([, { options }]) => options !== undefined && 'from' in options && options.from === 'models',
  )?.[0]
  const textOf = (name: string) => {
    const value = Object.hasOwn(inputs, name) ? inputs[name] : undefined
    return typeof value === 'string' && !hasToken(value) ? value.trim() : undefined
  }
  const vendor = /^(anthropic|openai)\//.exec(textOf(field ?? 'model') ?? '')?.[1]
  const connection = textOf('connection')
  if (connection !== undefined && connection !== '') return connectionsOf(vendor ?? 'openai', connection) > 0
  return vendor !== undefined && !Object.hasOwn(inputs, 'connection') && connectionsOf(vendor) === 1
}

function priceSteps(
  field: string,
  value: ConfiguredValue | undefined,
  { providers, usual }: WaterfallOffer,
  environment: ConfigurationEnvironment,
): PricedStep[] {
  const steps = value === undefined ? usual : asSteps(value)
  const optionOf = ({ provider }: WaterfallStep) => providers.find(({ id }) => id === provider)
  if (steps.some((step) => optionOf(step)?.asksNobody === true)) return []
  return steps.flatMap((step): PricedStep[] => {
    const option = optionOf(step)
    if (option === undefined) return []
    return [
      {
        field,
        provider: option.name,
        credits: option.credits ?? 0,
        missCredits: option.missCredits ?? 0,
        ownKey: step.own_key,
        configured: option.disabled !== true && canBeAsked(option, step, environment),
      },
    ]
  })
}

/** Adds amounts in whole thousandths, so that sums are exact (D22). */
export function sum(credits: readonly number[]): number {
  return credits.reduce((total, part) => total + Math.round(part * 1000), 0) / 1000
}
