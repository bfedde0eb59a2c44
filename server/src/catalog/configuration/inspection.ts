import type { Warning } from '#contract/envelope.ts'
import type { ActionInstance, ConfiguredValue } from '../chain/definition.ts'
import type { Action } from '../define.ts'
import { type Field, hasToken, type WaterfallOffer, type WaterfallStep } from '../fields/field.ts'
import { asSteps } from '../fields/waterfall-field.ts'
import { describeUnasked, describeUnconnected, findRemedy } from '../provider/remedy.ts'
import type { ConfigurationEnvironment } from './environment.ts'

/** Returns what is wrong with the inputs of an action before any row runs (D71, D77). */
export function inspectInputs(
  { inputs }: ActionInstance,
  template: Action,
  environment: ConfigurationEnvironment,
): Warning[] {
  return Object.entries(template.inputs).flatMap(([name, field]) => {
    const value = Object.hasOwn(inputs, name) ? inputs[name] : undefined
    return inspectInput(`inputs.${name}`, value, field, environment)
  })
}

function inspectInput(
  path: string,
  value: ConfiguredValue | undefined,
  { waterfall, connects, inspect }: Field,
  environment: ConfigurationEnvironment,
): Warning[] {
  const found = value === undefined ? null : (inspect?.(value) ?? null)
  const waterfallFault = waterfall === undefined ? null : faultOfWaterfall(value, waterfall, environment)
  const connectionFault = connects === undefined ? null : faultOfConnection(value, connects, environment)
  const unconfigured = waterfallFault ?? connectionFault
  return [
    ...(found === null ? [] : [{ field: path, ...found }]),
    ...(unconfigured === null
      ? []
      : [{ field: path, code: 'provider_not_configured', message: unconfigured }]),
  ]
}

/**
 * Returns the problem of a waterfall if none of its providers is configured. A single unconfigured provider is only
 * skipped.
 */
function faultOfWaterfall(
  value: ConfiguredValue | undefined,
  { providers, usual, isExtra }: WaterfallOffer,
  environment: ConfigurationEnvironment,
): string | null {
  const steps = value === undefined ? (isExtra ? [] : usual) : asSteps(value)
  const remedies = steps.flatMap((step) => {
    const option = providers.find(({ id }) => id === step.provider)
    if (option === undefined || option.disabled || canBeAsked(option, step, environment)) return []
    const hasAddress = !option.needsAddress || environment.hasAddress(option.id)
    return [{ provider: option.name, remedy: findRemedy(option, { ownKey: step.own_key, hasAddress }) }]
  })
  return remedies.length === 0 || remedies.length < steps.length ? null : describeUnasked(remedies)
}

/** Returns true if a step of a waterfall has the key and the address that it needs. */
export function canBeAsked(
  { id, requiresOwnKey, needsKey, needsAddress }: WaterfallOffer['providers'][number],
  { own_key }: WaterfallStep,
  { connectionsOf, hasKey, hasAddress }: ConfigurationEnvironment,
): boolean {
  if (own_key) return connectionsOf(id) > 0
  return !requiresOwnKey && (!needsAddress || hasAddress(id)) && (!needsKey || hasKey(id))
}

function faultOfConnection(
  value: ConfiguredValue | undefined,
  provider: NonNullable<Field['connects']>,
  { connectionsOf, hasKey }: ConfigurationEnvironment,
): string | null {
  const named = typeof value === 'string' && value.trim() !== '' ? value : undefined
  if (named !== undefined && hasToken(named)) return null
  const isConnected = connectionsOf(provider.id, named) > 0 || (named === undefined && hasKey(provider.id))
  return isConnected ? null : describeUnconnected(provider, named)
}
