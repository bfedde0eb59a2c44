import type { RowFilter, Selection, StatusFilter } from '../../../api/sheet.ts'
import { STATE_NAMES } from '../cell-text.ts'
import type { Column } from '../columns.ts'
import { CELL_STATUSES, type CellStatus, FILTER_OPERATORS, type FilterOperator } from '../filter-words.ts'

/** One line of the dialog. For an action it compares the status by `is` or `is not`; for a value it uses an operator of List Rows. */
export type Term = { column: string; operator: string; value: string }

export const STATUS_CHOICES = CELL_STATUSES.map((value) => ({ value, label: STATE_NAMES[value] }))
export const INPUT_OPERATORS = Object.keys(FILTER_OPERATORS) as FilterOperator[]
export const ACTION_OPERATORS = ['is', 'is not'] as const

/** Returns true if a line compares the status of an action, and not a value. */
export const isStatusTerm = ({ operator }: Term): boolean => ACTION_OPERATORS.some((one) => one === operator)

export const takesNoValue = (operator: string) => FILTER_OPERATORS[operator as FilterOperator] === 'none'

const trimToken = (token: string) => token.slice(2, -2).trim()
const getToken = (column: Column) => `{{${column.key}}}`
const takesSeveral = (operator: string) =>
  ['many', 'range'].includes(FILTER_OPERATORS[operator as FilterOperator])
/** The column key of the filter `action: any`, which belongs to no single column. */
const ANY = 'any'

export function readTerms({ filters, status_filters }: Selection, columns: readonly Column[]): Term[] {
  return [
    ...filters.map(({ variable, operator, values = [] }): Term => ({
      column: columns.find((column) => getToken(column) === variable)?.key ?? trimToken(variable),
      operator,
      value: values.join(', '),
    })),
    ...status_filters.map(({ action_instance_id, is, is_not }): Term => ({
      column: action_instance_id ?? ANY,
      operator: is === undefined ? 'is not' : 'is',
      value: (is ?? is_not ?? []).join(', '),
    })),
  ]
}

/** Returns the selection of the terms. The time of creation, the search text and the cause stay. */
export function buildSelection(
  terms: readonly Term[],
  { created_at, find, cause }: Pick<Selection, 'created_at' | 'find' | 'cause'>,
): Selection {
  return {
    created_at,
    find,
    cause,
    filters: terms
      .filter((term) => !isStatusTerm(term))
      .map(({ column, operator, value }): RowFilter => ({
        variable: `{{${column}}}`,
        operator: operator as FilterOperator,
        ...(takesNoValue(operator) ? {} : { values: parseValues(operator, value) }),
      })),
    status_filters: terms.filter(isStatusTerm).map(({ column, operator, value }): StatusFilter => {
      const statuses = value.split(', ') as CellStatus[]
      return {
        ...(column === ANY ? { action: ANY } : { action_instance_id: column }),
        ...(operator === 'is' ? { is: statuses } : { is_not: statuses }),
      }
    }),
  }
}

/** Returns the values of a filter. Only operators for several values split the text at commas. */
function parseValues(operator: string, value: string): string[] {
  return takesSeveral(operator)
    ? value
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean)
    : [value]
}

/** Returns what can be filtered: inputs, statuses of actions, and the outputs of each action. */
export function listFilterColumns(
  columns: readonly Column[],
): { value: string; label: string; note: string }[] {
  return columns.flatMap((column) => [
    { value: column.key, label: column.name, note: column.kind },
    ...listOutputs(column).map(({ key, name }) => ({ value: key, label: name, note: 'output' })),
  ])
}

/** Returns the outputs of an action by the text between the braces of their tokens. */
function listOutputs(column: Column): { key: string; name: string }[] {
  if (column.kind === 'input') return []
  return (column.node.outputs ?? []).map(({ name, reference }) => ({
    key: trimToken(reference),
    name: `${column.name}: ${name.replaceAll('_', ' ')}`,
  }))
}

export function describeTerm({ column, operator, value }: Term, columns: readonly Column[]): string {
  const found = columns.find(({ key }) => key === column)
  const output = columns.flatMap(listOutputs).find(({ key }) => key === column)
  const name = found?.name ?? output?.name ?? (column === ANY ? 'Any action' : column)
  const statuses = value.split(', ').map((status) => STATE_NAMES[status as CellStatus] ?? status)
  const shown = isStatusTerm({ column, operator, value }) ? statuses.join(', ') : value
  return [name, operator, takesNoValue(operator) ? '' : shown].filter(Boolean).join(' ')
}
