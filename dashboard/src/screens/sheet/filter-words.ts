import type { CellStatus, FilterOperator } from '#contract/rows.ts'
import type { FILTER_OPERATORS as CONTRACT_OPERATORS } from '#contract/rows.ts'

export type { CellStatus, FilterOperator }

/** The statuses of the contract. They are repeated here, because importing the schemas would add Zod to the bundle. The compiler checks that they match. */
export const CELL_STATUSES = [
  'queued',
  'running',
  'complete',
  'failed',
  'error',
  'out_of_credits',
  'condition_not_met',
] as const satisfies readonly CellStatus[]

export const FILTER_OPERATORS: typeof CONTRACT_OPERATORS = {
  'is equal to': 'one',
  'not equal to': 'one',
  'is empty': 'none',
  'not empty': 'none',
  contains: 'one',
  'does not contain': 'one',
  'contains any of': 'many',
  'not contains any of': 'many',
  'starts with': 'one',
  'does not start with': 'one',
  'ends with': 'one',
  'does not end with': 'one',
  'greater than': 'number',
  'less than': 'number',
  'greater than or equal to': 'number',
  'less than or equal to': 'number',
  'is between': 'range',
  'is after': 'date',
  'is before': 'date',
}
