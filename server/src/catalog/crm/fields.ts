import { type Field, hasToken } from '../fields/field.ts'
import { field, type Pair } from '../fields/fields.ts'

type Dropdown = { from: string; needs: string[] }

/** Defines a field for names and values of record fields. The options endpoint lists the names. */
export function namedValues(description: string, options: Dropdown): Field<Pair[]> {
  return { ...field.pairs({ required: true, description }), options }
}

export const ignoreEmptyValues = field.toggle({
  default: true,
  description: 'Skip fields without a value. Default on; off, an empty value clears its field.',
})

export const ignoreEmptyCriteria = field.toggle({
  default: true,
  description: 'Skip fields without a value. Default on; off, an empty value finds records without one.',
})

export const exactMatch = field.toggle({
  default: true,
  description: 'Requires equal texts. Default on; off, the field must contain the text.',
})

export const limit = field.number({
  whole: true,
  min: 1,
  max: 200,
  default: 10,
  description: 'The maximum number of records. Default 10.',
})

const operator = field.choice(['AND', 'OR'], {
  default: 'AND',
  description: 'Requires all values to match (AND) or any of them (OR). Default AND.',
})
const upper = (given: unknown) =>
  typeof given === 'string' && !hasToken(given) ? given.trim().toUpperCase() : given

/** An operator that may be written in upper or lower case. */
export const searchOperator: typeof operator = {
  ...operator,
  check: (raw, path) => operator.check(upper(raw), path),
  read: (resolved) => operator.read(upper(resolved)),
}
