import type { Warning } from '#contract/envelope.ts'
import type { ActionInstance, ConfiguredValue } from '../chain/definition.ts'
import type { Token } from '../chain/references.ts'
import type { Action } from '../define.ts'
import type { ProviderOption } from '../fields/field.ts'
import { asSteps } from '../fields/waterfall-field.ts'
import { type ChainView, standingOf } from './chain-view.ts'
import type { ConfigurationEnvironment } from './environment.ts'
import { inspectInputs } from './inspection.ts'
import { createReferenceHints } from './reference-hints.ts'
import { listReferences } from './references.ts'

/** Lists the problems that keep an action, as configured now, from working. */
export function checkConfiguration(
  action: ActionInstance,
  chain: ChainView,
  environment: ConfigurationEnvironment,
): Warning[] {
  const template = chain.links.get(action.id)?.template
  const hint = createReferenceHints(action, chain, environment.envKeys)
  return distinct([
    ...(template === undefined ? [] : listMissing(action, template)),
    ...listReferences(action, template).flatMap(({ path, token, source }) => {
      const problem = token === undefined ? MALFORMED : problemOfToken(token, action, chain, environment)
      if (problem === null) return []
      const { code, message } = problem
      const suggestion = problem === DOWNSTREAM ? '' : hint(source)
      return [{ field: path, code, message: message(source) + suggestion }]
    }),
    ...(template === undefined ? [] : inspectInputs(action, template, environment)),
    ...Object.entries(template?.inputs ?? {}).flatMap(([name, { waterfall }]) =>
      waterfall === undefined
        ? []
        : listKeyProblems(`inputs.${name}`, action.inputs[name], waterfall.providers, environment),
    ),
  ])
}

/** Removes duplicates and keeps the order. */
export function distinct(warnings: Warning[]): Warning[] {
  const toKey = ({ field, code, message }: Warning) => JSON.stringify([field, code, message])
  return [...new Map(warnings.map((warning) => [toKey(warning), warning])).values()]
}

type Problem = { code: string; message: (source: string) => string }

const MALFORMED: Problem = {
  code: 'unresolved_reference',
  message: (source) => `${source} is not a reference`,
}
const UNRESOLVED: Problem = { code: 'unresolved_reference', message: (source) => `${source} does not exist` }
const DOWNSTREAM: Problem = {
  code: 'downstream_reference',
  message: (source) => `${source} is not there yet when this action runs`,
}
const UNAVAILABLE: Problem = {
  code: 'env_variable_unavailable',
  message: (source) => `${source} has no value here; rows are errors until it is set`,
}

function problemOfToken(
  token: Token,
  action: ActionInstance,
  chain: ChainView,
  { envKeys }: ConfigurationEnvironment,
): Problem | null {
  if (token.kind === 'env') return envKeys.has(token.key) ? null : UNAVAILABLE
  const standing = standingOf(token, action, chain)
  return { known: null, unknown: UNRESOLVED, downstream: DOWNSTREAM }[standing]
}

function listMissing({ inputs }: ActionInstance, template: Action): Warning[] {
  const code = 'required_field_missing'
  const isSet = (name: string) => Object.hasOwn(inputs, name) && !isBlank(inputs[name])
  const also = template.alsoRequired(inputs)
  const missing = Object.keys(template.inputs)
    .filter((name) => (template.inputs[name]?.required || also.includes(name)) && !isSet(name))
    .map((name) => ({ field: `inputs.${name}`, code, message: 'this field is required' }))
  if (template.needs.length === 0 || template.needs.some((set) => set.every(isSet))) return missing
  const ways = template.needs.map((set) => set.join(' and ')).join(', or ')
  return [...missing, { field: 'inputs', code, message: `needs ${ways}` }]
}

function isBlank(value: ConfiguredValue | undefined): boolean {
  return value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
}

function listKeyProblems(
  path: string,
  configured: ConfiguredValue | undefined,
  providers: readonly ProviderOption[],
  { connectionsOf }: ConfigurationEnvironment,
): Warning[] {
  return asSteps(configured).flatMap(({ provider, own_key }, place): Warning[] => {
    const known = providers.find(({ id }) => id === provider)
    const name = known?.name ?? provider
    const field = `${path}[${place}]`
    const connections = own_key ? connectionsOf(provider) : 0
    if (own_key && connections > 1) {
      const message = `there are several connections to ${name}; the first is used`
      return [{ field, code: 'ambiguous_provider', message }]
    }
    if (own_key && connections === 0) {
      const message = `${name} is set to your own key, but it is not connected`
      return [{ field, code: 'own_key_required', message }]
    }
    if (!own_key && known?.requiresOwnKey) {
      return [{ field, code: 'own_key_required', message: `${name} runs on your own key only` }]
    }
    return []
  })
}
