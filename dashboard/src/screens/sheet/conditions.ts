import { compareDecimals, parseDecimal } from '#contract/decimal.ts'
import { TEXT_OPERATORS } from '#contract/text-operators.ts'

export type Combinator = 'AND' | 'OR'
export type Leaf = { variable: string; operator: string; values: string[]; combinator: Combinator }
export type ConditionGroup = { conditions: Leaf[]; combinator: Combinator }

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null
const toObjects = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.filter(isObject) : []
const toText = (value: unknown) => (typeof value === 'string' ? value : '')
const readCombinator = (value: unknown): Combinator => (toText(value).toUpperCase() === 'OR' ? 'OR' : 'AND')

/** Reads condition groups from a `run_if`, or from a field that holds condition groups. */
export function readGroups(value: unknown): ConditionGroup[] {
  const groups = Array.isArray(value) ? value : isObject(value) ? value['conditions'] : []
  return toObjects(groups).map((group) => ({
    combinator: readCombinator(group['combinator']),
    conditions: toObjects(group['conditions']).map((leaf) => ({
      variable: toText(leaf['variable']),
      operator: toText(leaf['operator']),
      values: Array.isArray(leaf['values']) ? leaf['values'].map(String) : [],
      combinator: readCombinator(leaf['combinator']),
    })),
  }))
}

/** Returns condition groups, or null if reading them would lose a part of the value. */
export function readGroupsExactly(value: unknown): ConditionGroup[] | null {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) return null
  const isWhole = value.every(
    (group) =>
      isObject(group) &&
      hasOnly(group, ['conditions', 'combinator']) &&
      Array.isArray(group['conditions']) &&
      group['conditions'].every(
        (leaf: unknown) =>
          isObject(leaf) &&
          hasOnly(leaf, ['variable', 'operator', 'values', 'combinator']) &&
          typeof leaf['variable'] === 'string',
      ),
  )
  return isWhole ? readGroups(value) : null
}

const hasOnly = (value: Record<string, unknown>, names: readonly string[]) =>
  Object.keys(value).every((name) => names.includes(name))

const NO_VALUE = new Set(['is empty', 'is not empty'])
export const takesNoValue = (operator: string) => NO_VALUE.has(operator)

export function printGroups(groups: readonly ConditionGroup[]) {
  return groups
    .filter(({ conditions }) => conditions.length > 0)
    .map(({ conditions, combinator }) => ({
      combinator,
      conditions: conditions.map(({ variable, operator, values, combinator }) => ({
        variable,
        operator,
        ...(takesNoValue(operator) ? {} : { values }),
        combinator,
      })),
    }))
}

const NUMBER_OPERATORS = [
  'greater than',
  'less than',
  'greater than or equal to',
  'less than or equal to',
  'is between',
]
const DATE_OPERATORS = ['is after', 'is before', 'is between']
const ANY_OPERATORS = ['is', 'is not', 'is empty', 'is not empty']

export function operatorsFor(type: string | undefined): string[] {
  switch (type) {
    case 'number':
      return [...ANY_OPERATORS, ...NUMBER_OPERATORS]
    case 'date':
      return [...ANY_OPERATORS, ...DATE_OPERATORS]
    case 'string':
    case 'url':
    case 'email':
    case 'select':
      // A text may hold a date.
      return [...ANY_OPERATORS, ...TEXT_OPERATORS, ...DATE_OPERATORS]
    case 'raw_array':
    case 'structured_array':
    case 'json':
      return [...ANY_OPERATORS, 'contains', 'does not contain']
    case 'boolean':
      return ANY_OPERATORS
    case undefined:
    default:
      return [...ANY_OPERATORS, ...TEXT_OPERATORS, ...NUMBER_OPERATORS, 'is after', 'is before']
  }
}

/** Returns true if a value meets a condition. It follows the rules of the server and is only used to explain a decision. */
export function isMet({ operator, values }: Pick<Leaf, 'operator' | 'values'>, value: string): boolean {
  const [first = '', second = ''] = values
  const [text, wanted] = [value.toLowerCase(), first.toLowerCase()]
  const order = compare(value, first)
  switch (operator) {
    case 'is':
      return isSame(value, first)
    case 'is not':
      return !isSame(value, first)
    case 'is empty':
      return value === ''
    case 'is not empty':
      return value !== ''
    case 'contains':
      return text.includes(wanted)
    case 'does not contain':
      return !text.includes(wanted)
    case 'starts with':
      return text.startsWith(wanted)
    case 'does not start with':
      return !text.startsWith(wanted)
    case 'ends with':
      return text.endsWith(wanted)
    case 'does not end with':
      return !text.endsWith(wanted)
    case 'greater than':
    case 'is after':
      return order > 0
    case 'less than':
    case 'is before':
      return order < 0
    case 'greater than or equal to':
      return order >= 0
    case 'less than or equal to':
      return order <= 0
    case 'is between':
      return order >= 0 && compare(value, second) <= 0
    default:
      return false
  }
}

/** Returns true for equal texts, and for equal numbers such as 1 and 1.0 (D34). */
function isSame(one: string, other: string): boolean {
  return one === other || compareNumbers(one, other) === 0
}

/** Compares two values as numbers, or else as dates. If they are neither, the result is NaN and no comparison is met. */
function compare(one: string, other: string): number {
  return compareNumbers(one, other) ?? Date.parse(one) - Date.parse(other)
}

function compareNumbers(one: string, other: string): number | undefined {
  const [a, b] = [parseDecimal(one), parseDecimal(other)]
  return a === null || b === null ? undefined : compareDecimals(a, b)
}
