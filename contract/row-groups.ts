import { z } from 'zod'
import { Column, Variable } from './columns.ts'
import { RowSelection } from './rows.ts'
import { boundedArray } from './schema-checks.ts'

/** The number of groups that one answer lists, and the bytes of their values. */
export const MAX_GROUPS = 1000
export const MAX_GROUP_BYTES = 4 * 1024 * 1024
export const MAX_GROUP_COLUMNS = 3
const MAX_AGGREGATES = 5

export const AGGREGATES = ['sum', 'average', 'min', 'max'] as const

export const GroupRowsBody = z.strictObject({
  by: boundedArray(Column, { min: 1, max: MAX_GROUP_COLUMNS }),
  aggregates: boundedArray(z.strictObject({ variable: Variable, function: z.enum(AGGREGATES) }), {
    max: MAX_AGGREGATES,
  }).optional(),
  ...RowSelection,
})
export type GroupRowsBody = z.infer<typeof GroupRowsBody>

/** A selection in an answer: the fields of the request, with those of the group. */
const SelectionView = z.looseObject({
  filters: z
    .array(z.object({ variable: z.string(), operator: z.string(), values: z.array(z.string()).optional() }))
    .optional(),
  status_filters: z.array(z.looseObject({})).optional(),
  created_at: z.object({ operator: z.string(), values: z.array(z.string()) }).optional(),
  find: z.string().optional(),
  cause: z.string().optional(),
  view_id: z.string().optional(),
})

export const RowGroup = z.object({
  values: z
    .array(z.string().nullable())
    .describe('In the order of `by`: texts, null where the cells are empty; of `created_at` a day in UTC'),
  count: z.int(),
  aggregates: z
    .array(z.number().nullable())
    .describe('In the order of `aggregates`, over the values that are numbers; null if there are none'),
  selection: SelectionView.describe('Finds the rows of the group, wherever rows are selected'),
})

export const RowGroups = z.object({
  groups: z
    .array(RowGroup)
    .describe(`The ${MAX_GROUPS} largest groups, or fewer if their values take more than 4 MiB`),
  group_count: z.int(),
  total_count: z.int().describe('The rows of all groups'),
})
