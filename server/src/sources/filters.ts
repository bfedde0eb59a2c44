import { z } from 'zod'

/** The number of values that each operator takes. */
const OPERATORS = {
  'is equal to': 'one',
  'not equal to': 'one',
  'is any of': 'many',
  contains: 'one',
  'greater than': 'one',
  'greater than or equal to': 'one',
  'less than': 'one',
  'less than or equal to': 'one',
  'is empty': 'none',
  'not empty': 'none',
} as const

export type FilterOperator = keyof typeof OPERATORS
export type FilterValue = string | number | boolean
export type Filter = { field: string; operator: FilterOperator; values: FilterValue[] }

const OPERATOR_NAMES = Object.keys(OPERATORS) as [FilterOperator, ...FilterOperator[]]
const MAX_VALUES = 100

/**
 * Builds the schema for conditions that must all hold: `[{"field": "city", "operator": "is equal to", "values":
 * ["Berlin"]}]`.
 */
export function filtersOf(field: z.ZodType<string, string>, max: number) {
  const Filter = z
    .strictObject({
      field,
      operator: z.enum(OPERATOR_NAMES),
      values: z
        .array(
          z.union([z.string().max(10_000), z.number(), z.boolean()], 'must be a string, number or boolean'),
        )
        .max(MAX_VALUES)
        .default([]),
    })
    .check(({ value: { operator, values }, issues }) => {
      const takes = OPERATORS[operator]
      const add = (message: string) =>
        issues.push({ code: 'custom', input: values, path: ['values'], message })
      if (takes === 'one' && values.length !== 1) add(`\`${operator}\` takes exactly one value`)
      if (takes === 'many' && values.length === 0) add(`\`${operator}\` takes one or more values`)
      if (takes === 'none' && values.length > 0) add(`\`${operator}\` takes no values`)
    })
  return z
    .array(Filter)
    .max(max)
    .describe('Conditions that all have to hold: {field, operator, values}')
    .optional()
}
