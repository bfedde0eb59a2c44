import { type Field, type FieldTexts, hasToken } from '../fields/field.ts'
import { field, type Pair } from '../fields/fields.ts'

type Dropdown = { from: string; needs: string[] }

/** Defines a field for names and values of record fields. The options endpoint lists the names. */
export function namedValues(texts: FieldTexts, options: Dropdown): Field<Pair[]> {
  return { ...field.pairs({ required: true, ...texts }), options }
}

export const ignoreEmptyValues = field.toggle({
  default: true,
  label: 'Skip empty values',
  help: 'Leaves fields without a value as they are.',
  details: 'Default on; off, an empty value clears its field.',
  advanced: true,
})

export const ignoreEmptyCriteria = field.toggle({
  default: true,
  label: 'Skip empty values',
  help: 'Searches without the values that are empty in this row.',
  details: 'Default on; off, an empty value finds records without one.',
  advanced: true,
})

export const exactMatch = field.toggle({
  default: true,
  label: 'Exact match',
  help: 'Values must be the same. Off: it is enough that they are contained.',
  details: 'Default on.',
  advanced: true,
})

export const limit = field.number({
  whole: true,
  min: 1,
  max: 200,
  default: 10,
  label: 'Most records',
  help: 'The list ends after this many.',
  placeholder: '10',
  details: 'Default 10.',
  advanced: true,
})

const operator = field.choice(['AND', 'OR'], {
  labels: { AND: 'All of the values', OR: 'Any of the values' },
  default: 'AND',
  label: 'Match',
  help: 'Records that meet all of the values, or any of them.',
  details: 'AND (default) or OR.',
  advanced: true,
})
const upper = (given: unknown) =>
  typeof given === 'string' && !hasToken(given) ? given.trim().toUpperCase() : given

/** An operator that may be written in upper or lower case. */
export const searchOperator: typeof operator = {
  ...operator,
  check: (raw, path) => operator.check(upper(raw), path),
  read: (resolved) => operator.read(upper(resolved)),
}
