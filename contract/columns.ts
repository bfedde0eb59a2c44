import { z } from 'zod'
import { boundedArray } from './schema-checks.ts'

/** The token of an input or an output. A path into its JSON may follow (D75). */
export const Variable = z
  .string()
  .regex(/^\{\{[^{}]+\}\}$/, 'must have the form {{input.<column>}} or {{<action_instance_id>.<output>}}')
  .describe('An input, or an output of an action; a path into its JSON may follow')

/** The fields of which a column has exactly one. */
export const COLUMN_FIELDS = {
  variable: Variable.optional(),
  action_instance_id: z.string().min(1).max(200).optional().describe('The status of the cell of this action'),
  field: z.literal('created_at').optional(),
}
export type ColumnFields = {
  variable?: string | undefined
  action_instance_id?: string | undefined
  field?: 'created_at' | undefined
}

/** Reports a column that has none of its fields, or several. */
export function checkColumn(context: z.core.ParsePayload<ColumnFields>): void {
  const { variable, action_instance_id, field } = context.value
  if ([variable, action_instance_id, field].filter((part) => part !== undefined).length === 1) return
  const message = 'must have exactly one of `variable`, `action_instance_id` and `field`'
  context.issues.push({ code: 'custom', input: context.value, path: [], message })
}

/** A column of a sheet: an input or output, the status of a cell, or the time of creation. */
export const Column = z.strictObject(COLUMN_FIELDS).check(checkColumn)
export type Column = z.infer<typeof Column>

/** Returns what stands between the braces of a variable. */
export const trimVariable = (variable: string): string => variable.slice(2, -2).trim()

/** Returns a text that two columns share if they name the same. */
const nameColumn = ({ variable, action_instance_id, field }: ColumnFields): string =>
  (variable === undefined ? undefined : trimVariable(variable)) ?? action_instance_id ?? `.${field}`

/** Reports every column of a list that is named before. */
export function checkRepeated(context: z.core.ParsePayload<ColumnFields[]>): void {
  const names = context.value.map(nameColumn)
  for (const [n, name] of names.entries()) {
    if (names.indexOf(name) === n) continue
    const message = 'names a column that an earlier entry names'
    context.issues.push({ code: 'custom', input: context.value[n], path: [n], message })
  }
}

export const MAX_SORT_COLUMNS = 3
const SortColumn = z
  .strictObject({ ...COLUMN_FIELDS, direction: z.enum(['asc', 'desc']).default('asc') })
  .check(checkColumn)

/** The order of rows. Numbers come before dates, and dates before texts; empty values are last in both directions. */
export const Sort = boundedArray(SortColumn, { max: MAX_SORT_COLUMNS })
  .check(checkRepeated)
  .describe(
    'Up to 3 columns. Ascending: numbers, dates, then texts without case; statuses in the order of their lifecycle. Empty values come last; equal rows stay in the order of insertion',
  )
export type Sort = z.infer<typeof Sort>
