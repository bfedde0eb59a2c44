import { Variable } from '#contract/columns.ts'
import type { FieldError } from '#contract/errors.ts'
import { RowFilter } from '#contract/rows.ts'
import type { ChainView } from '../../catalog/configuration/chain-view.ts'
import { createHints } from '../../lib/nearest-name.ts'
import { findValue, listVariables, operatorsOf } from './value-sources.ts'

type Names = {
  chain: ChainView
  hintVariable: (variable: string) => string
  hintAction: (action: string) => string
}

/** The fields of bodies that list columns. */
const COLUMN_LISTS = ['sort', 'groups', 'columns', 'by', 'aggregates']

/** Finds names that the sheet does not have, even if other parts of the body have the wrong shape. */
export function findUnknownNames(body: unknown, chain: ChainView): FieldError[] {
  const names: Names = {
    chain,
    hintVariable: createHints(listVariables(chain)),
    hintAction: createHints(chain.definition.actions.map(({ id }) => id)),
  }
  const inParts = (list: string, find: (part: unknown, field: string) => FieldError[]) =>
    listParts(body, list).flatMap((part, n) => find(part, `${list}[${n}]`))
  const inColumns = (list: string) =>
    inParts(list, (part, field) => [
      ...findVariableErrors(part, field, names),
      ...findActionErrors(part, field, names),
    ])
  return [
    ...inParts('filters', (part, field) => [
      ...findVariableErrors(part, field, names),
      ...findOperatorErrors(part, field, chain),
    ]),
    ...inParts('status_filters', (part, field) => findActionErrors(part, field, names)),
    ...COLUMN_LISTS.flatMap(inColumns),
  ]
}

/** Finds what a body names as its own column that the sheet does not have. */
export function findUnknownColumn(body: unknown, chain: ChainView): FieldError[] {
  return findUnknownNames({ columns: [body] }, chain).map(({ field, message }) => ({
    field: field.replace('columns[0].', ''),
    message,
  }))
}

function findVariableErrors(part: unknown, field: string, { chain, hintVariable }: Names): FieldError[] {
  const { success, data: variable } = Variable.safeParse(readValue(part, 'variable'))
  if (!success || findValue(variable, chain) !== undefined) return []
  const what = /^\{\{\s*input\./.test(variable) ? 'input' : 'output'
  const message = `the sheet has no ${what} for ${variable}${hintVariable(variable)}`
  return [{ field: `${field}.variable`, message }]
}

/** Finds an operator that the type of an output lacks. */
function findOperatorErrors(part: unknown, field: string, chain: ChainView): FieldError[] {
  const variable = readValue(part, 'variable')
  const value = typeof variable === 'string' ? findValue(variable, chain) : undefined
  const { success, data: operator } = RowFilter.shape.operator.safeParse(readValue(part, 'operator'))
  const allowed = value === undefined ? undefined : operatorsOf(value)
  if (!success || allowed === undefined || allowed.includes(operator)) return []
  const message = `must be one of: ${allowed.join(', ')} (the output is of type ${value?.type})`
  return [{ field: `${field}.operator`, message }]
}

function findActionErrors(part: unknown, field: string, { chain, hintAction }: Names): FieldError[] {
  const id = readValue(part, 'action_instance_id')
  if (typeof id !== 'string' || chain.definition.actions.some((action) => action.id === id)) return []
  const message = `the sheet has no action ${id}${hintAction(id)}`
  return [{ field: `${field}.action_instance_id`, message }]
}

/** Tells whether one of the bodies or settings names an output of an action. */
export function namesOutput(bodies: readonly unknown[]): boolean {
  const parts = bodies.flatMap((body) =>
    ['filters', ...COLUMN_LISTS].flatMap((name) => listParts(body, name)),
  )
  return parts.some((part) => {
    const variable = readValue(part, 'variable')
    const isOutput = typeof variable === 'string' && !/^\{\{\s*input\./.test(variable)
    return isOutput || readValue(part, 'path') !== undefined
  })
}

export function readValue(part: unknown, name: string): unknown {
  return typeof part === 'object' && part !== null ? Reflect.get(part, name) : undefined
}

function listParts(body: unknown, name: string): unknown[] {
  const parts = readValue(body, name)
  return Array.isArray(parts) ? parts : []
}
