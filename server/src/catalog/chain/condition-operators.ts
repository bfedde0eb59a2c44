import { TEXT_OPERATORS } from '#contract/text-operators.ts'

const ANY = ['is', 'is not', 'is empty', 'is not empty'] as const
const NUMBER = [
  'greater than',
  'less than',
  'greater than or equal to',
  'less than or equal to',
  'is between',
] as const
const DATE = ['is after', 'is before', 'is between'] as const
const LIST = ['contains', 'does not contain'] as const

export type Operator = (
  | typeof ANY
  | typeof TEXT_OPERATORS
  | typeof NUMBER
  | typeof DATE
  | typeof LIST
)[number]
/** All operators, each of them once. */
export const OPERATORS = [...new Set<Operator>([...ANY, ...TEXT_OPERATORS, ...NUMBER, ...DATE, ...LIST])] as [
  Operator,
  ...Operator[],
]

/** The kind of a stored type in a condition. */
export type Kind = 'text' | 'number' | 'date' | 'list' | 'other'

const KIND_OPERATORS: Record<Kind, readonly Operator[]> = {
  text: [...ANY, ...TEXT_OPERATORS, ...DATE],
  number: [...ANY, ...NUMBER, ...DATE],
  date: [...ANY, ...DATE],
  list: [...ANY, ...LIST, ...DATE],
  other: [...ANY, ...DATE],
}

const KINDS: ReadonlyMap<string, Kind> = new Map([
  ['string', 'text'],
  ['email', 'text'],
  ['url', 'text'],
  ['select', 'text'],
  ['imageUrl', 'text'],
  ['number', 'number'],
  ['currency', 'number'],
  ['date', 'date'],
  ['array', 'list'],
  ['structured_array', 'list'],
  ['raw_array', 'list'],
  ['json', 'list'],
  ['boolean', 'other'],
])

export function kindOf(type: string | undefined): Kind | undefined {
  return type === undefined ? undefined : KINDS.get(type)
}

/** Returns the operators of a type. An unknown type has all operators (D34). A text of any type may be a date (D87). */
export function operatorsFor(type: string | undefined): readonly Operator[] {
  const kind = kindOf(type)
  return kind ? [...new Set(KIND_OPERATORS[kind])] : OPERATORS
}

/** Returns the exact number of values that an operator takes. Operators without values ignore any that are sent. */
export function valuesNeeded(operator: Operator): 0 | 1 | 2 {
  if (operator === 'is empty' || operator === 'is not empty') return 0
  return operator === 'is between' ? 2 : 1
}
