import { FILTER_OPERATORS, type FilterOperator } from '#contract/rows.ts'
import { kindOf, type Operator, operatorsFor } from '../../catalog/chain/condition-operators.ts'
import { parseTemplate, soleToken, type Token } from '../../catalog/chain/references.ts'
import { findInputPath, pathOf, type OutputToken } from '../../catalog/chain/value-path.ts'
import { type ChainView, isKnown, typesIn } from '../../catalog/configuration/chain-view.ts'
import type { OutputSource, ValueSource } from '../../database/tables/selection.ts'

/** A value of the rows of a sheet, and its type as far as it is known. */
export type KnownValue = { source: ValueSource; type: string | undefined }

/** Finds the input or output that a token names. Returns undefined if the sheet has none. */
export function findValue(variable: string, chain: ChainView): KnownValue | undefined {
  const token = soleToken(parseTemplate(variable))
  if (token === null || !isKnown(token, chain)) return undefined
  const source = sourceOf(token, chain)
  return source === undefined ? undefined : { source, type: typesIn(chain)(token) }
}

function sourceOf(token: Token, { definition }: ChainView): ValueSource | undefined {
  if (token.kind === 'env') return undefined
  if (token.kind !== 'input') return sourceOfOutput(token)
  const columns = new Map(definition.inputs.map(({ name, column }) => [name, column]))
  const path = findInputPath(token.name, (name) => columns.has(name))
  const column = path === null ? undefined : columns.get(path.head)
  if (path === null || column === undefined) return undefined
  return { column, ...(path.steps.length === 0 ? {} : { steps: path.steps }) }
}

export function sourceOfOutput(token: OutputToken): OutputSource {
  return { action: token.action, output: pathOf(token).head, ...pathIn(token) }
}

function pathIn(token: OutputToken): Pick<ValueSource, 'steps' | 'whole'> {
  const { steps } = pathOf(token)
  if (steps.length === 0) return {}
  const isWhole = token.kind === 'column' && steps.length > 1 && typeof steps[0] === 'string'
  return { steps, ...(isWhole ? { whole: token.column } : {}) }
}

/** Lists the variables that filters can name: inputs and outputs. */
export function listVariables({ definition, links }: ChainView): string[] {
  const outputs = [...links.values()].flatMap((link) => link.outputs.map(({ reference }) => reference))
  return [...definition.inputs.map(({ name }) => `{{input.${name}}}`), ...outputs]
}

const CONDITION_WORDS: Partial<Record<FilterOperator, Operator>> = {
  'is equal to': 'is',
  'not equal to': 'is not',
  'not empty': 'is not empty',
  // Several values are compared as one is.
  'contains any of': 'is',
  'not contains any of': 'is not',
}

/**
 * Lists the operators of an output whose type lacks some of them: numbers, booleans and lists. Returns undefined for any other
 * type, and for inputs.
 */
export function operatorsOf({ source, type }: KnownValue): FilterOperator[] | undefined {
  const kind = kindOf(type)
  if ('column' in source || (kind !== 'number' && kind !== 'list' && kind !== 'other')) return undefined
  const allowed = new Set<string>(operatorsFor(type))
  const words = Object.keys(FILTER_OPERATORS) as FilterOperator[]
  return words.filter((word) => allowed.has(CONDITION_WORDS[word] ?? word))
}

/** Returns what is known about how filters compare the values of an output. */
export function comparedAs({ source, type }: KnownValue): 'text' | 'list' | undefined {
  const kind = kindOf(type)
  return 'column' in source || (kind !== 'text' && kind !== 'list') ? undefined : kind
}
