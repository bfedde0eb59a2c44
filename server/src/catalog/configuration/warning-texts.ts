import type { Warning } from '#contract/envelope.ts'
import { askForField } from '#contract/field-requests.ts'
import { listTokens } from '../chain/reference-walk.ts'
import type { Token } from '../chain/references.ts'
import type { Action } from '../define.ts'

/** Adds to each warning its text for people, which names fields by their labels instead of their ids. */
export function addTexts(warnings: readonly Warning[], template: Action | undefined): Warning[] {
  return warnings.map((warning) => ({ ...warning, text: printText(warning, template) }))
}

function printText({ field: path, code, message }: Warning, template: Action | undefined): string {
  const name = /^inputs\.([a-z0-9_]+)/.exec(path)?.[1]
  const field = name === undefined ? undefined : template?.inputs[name]
  if (code === 'required_field_missing')
    return field === undefined ? printNeeds(template) : askForField(field)
  const text = printReference(code, message) ?? PLAIN[code] ?? message
  return field === undefined ? capitalize(text) : `${field.label}: ${text}`
}

/** The texts of warnings whose messages name settings and JSON, for programs and operators. */
const PLAIN: Readonly<Record<string, string>> = {
  provider_not_configured: 'No key yet. Add one under Settings, Connections, or choose providers with a key.',
}

/** Prints the sets of fields, one of which must be filled: "Enter Email, or Full name and Company domain". */
function printNeeds(template: Action | undefined): string {
  const ways = (template?.needs ?? []).map((set) =>
    set.map((name) => template?.inputs[name]?.label ?? name).join(' and '),
  )
  return `Enter ${ways.join(', or ')}`
}

/** Prints a warning about a reference with the name of its column, or returns null for other warnings. */
function printReference(code: string, message: string): string | null {
  const [found] = listTokens(message)
  const token = found?.token
  if (token === undefined) return null
  const name = printName(token)
  if (code === 'env_variable_unavailable') return `the environment variable ${name} has no value`
  if (code === 'unresolved_reference') return `there is no column "${name}"`
  return code === 'downstream_reference' ? `"${name}" comes later in the chain` : null
}

function printName(token: Token): string {
  if (token.kind === 'env') return token.key
  return token.kind === 'column' ? token.column : token.name
}

const capitalize = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)
