import { z } from 'zod'
import { Sort, Variable } from './columns.ts'
import { isDecimal } from './decimal.ts'
import { DateTime, Uuid } from './envelope.ts'
import { parseInstant } from './instant.ts'
import { numberToText } from './number-text.ts'
import { MAX_SEARCHED, operatorSchema, checkSearchText } from './operators.ts'
import { boundedArray, crossCheck } from './schema-checks.ts'
import { Spending } from './spending.ts'

export const MAX_ROWS_PER_ADD = 1000
export const MAX_ROW_IDS = 200
/** The maximum size of one value, in bytes of JSON in UTF-8. */
export const MAX_VALUE_BYTES = 1024 * 1024
export const MAX_ROW_BYTES = 2 * 1024 * 1024
export const DEFAULT_PAGE_SIZE = 20
export const MAX_PAGE_SIZE = 200
/** The maximum number of ids for Run Rows and Export Sheet: about as many as fit into their body. */
export const MAX_SELECTED_IDS = 25_000
export const MAX_FILTERS = 50
export const MAX_FILTER_VALUES = 10_000
/** The maximum length of a status list. A status may be repeated. */
const MAX_STATUSES = 100

/** The public cell statuses (part 3 of the specification). */
export const CELL_STATUSES = [
  'queued',
  'running',
  'complete',
  'failed',
  'error',
  'out_of_credits',
  'condition_not_met',
] as const
export type CellStatus = (typeof CELL_STATUSES)[number]

export const ROW_STATUSES = ['pending', 'running', 'complete', 'has_failures'] as const
export type RowStatus = (typeof ROW_STATUSES)[number]

export const RunAfter = z.enum(['none', 'first_10', 'all'])

export const AddRowsBody = z.strictObject({
  rows: boundedArray(z.unknown(), { min: 1, max: MAX_ROWS_PER_ADD }).describe('Objects keyed by input name'),
  run_after_add: RunAfter.default('none'),
  ...Spending,
})

export const RejectedRow = z.object({
  row: z
    .unknown()
    .describe('The row exactly as it was sent, to be corrected and sent again; null if `row_left_out`'),
  row_left_out: z
    .literal(true)
    .optional()
    .describe(
      'The rejected rows before this one already take 256 KiB, so its values are omitted; find it by `index`',
    ),
  index: z.int().describe('0-based position in the request'),
  errors: z.array(z.object({ field: z.string(), code: z.string(), message: z.string() })),
})
export type RejectedRow = z.infer<typeof RejectedRow>

export const AddedRows = z.object({
  row_count: z.int(),
  row_ids: z.array(Uuid),
  rejected: z.array(RejectedRow),
  rows_queued_for_run: z.int(),
})

/** The number and kind of values that each operator takes. The SQL is in server/src/sheets/store/row-filters.ts and value-filters.ts. */
export const FILTER_OPERATORS = {
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
} as const
export type FilterOperator = keyof typeof FILTER_OPERATORS

const operatorNames = Object.keys(FILTER_OPERATORS) as [FilterOperator, ...FilterOperator[]]
const FilterValue = z
  .preprocess(numberToText, z.union([z.string(), z.number(), z.boolean()], 'must be a string'))
  .transform(String)
  .refine((text) => text.isWellFormed() && !text.includes('\0'), 'must be well-formed text without NUL')

const isInstant = (text: string): boolean => parseInstant(text) !== null

export const RowFilter = z
  .strictObject({
    variable: Variable,
    operator: operatorSchema(operatorNames),
    values: boundedArray(FilterValue, { max: MAX_FILTER_VALUES }).optional(),
  })
  .check((context) => {
    const { operator, values = [] } = context.value
    const takes = FILTER_OPERATORS[operator]
    const add = (message: string) =>
      context.issues.push({ code: 'custom', input: values, path: ['values'], message })
    if (takes === 'many' && values.length === 0) add(`\`${operator}\` takes one or more values`)
    if ((takes === 'one' || takes === 'number') && values.length !== 1)
      add(`\`${operator}\` takes exactly one value`)
    if (takes === 'number' && values.length === 1 && !isDecimal(values[0] ?? ''))
      add(`\`${operator}\` takes a number`)
    if (takes === 'date' && (values.length !== 1 || !isInstant(values[0] ?? '')))
      add(`\`${operator}\` takes exactly one ISO 8601 date or date-time`)
    if (takes === 'range' && (values.length !== 2 || !(values.every(isDecimal) || values.every(isInstant))))
      add(
        `\`${operator}\` takes two numbers, or two ISO 8601 dates or date-times: the lowest and the highest`,
      )
    const refusal = checkSearchText(operator, values)
    if (refusal !== undefined) add(refusal)
  })
export type RowFilter = z.infer<typeof RowFilter>

const Statuses = boundedArray(z.enum(CELL_STATUSES), { min: 1, max: MAX_STATUSES })
export const StatusFilter = z
  .strictObject({
    action_instance_id: z.string().optional(),
    action: z
      .literal('any')
      .optional()
      .describe('Instead of action_instance_id: matches if any action of the row does'),
    is: Statuses.optional(),
    is_not: Statuses.optional(),
  })
  .check((context) => {
    const { action_instance_id, action } = context.value
    if (action_instance_id === undefined && action === undefined) {
      context.issues.push({
        code: 'custom',
        input: undefined,
        path: ['action_instance_id'],
        message: 'required, or `action: "any"`',
      })
    } else if (action_instance_id !== undefined && action !== undefined) {
      const message = 'cannot be combined with action_instance_id'
      context.issues.push({ code: 'custom', input: action, path: ['action'], message })
    }
  })
  .refine((filter) => (filter.is === undefined) !== (filter.is_not === undefined), {
    error: 'must have exactly one of `is` and `is_not`',
  })
export type StatusFilter = z.infer<typeof StatusFilter>

export const CREATED_AT_OPERATORS = [
  'equals to',
  'greater than',
  'greater than or equals to',
  'less than',
  'less than or equals to',
  'is between',
] as const

const Moment = z
  .string()
  .refine(
    (text) =>
      z.iso.date().safeParse(text).success ||
      z.iso.datetime({ offset: true, local: true }).safeParse(text).success,
    'must be an ISO 8601 date or date-time',
  )

export const CreatedAtFilter = z
  .strictObject({ operator: operatorSchema(CREATED_AT_OPERATORS), values: boundedArray(Moment, { max: 10 }) })
  .check((context) => {
    const { operator, values } = context.value
    const wanted = operator === 'is between' ? 2 : 1
    if (values.length !== wanted) {
      const message = `\`${operator}\` takes exactly ${wanted === 2 ? 'two values: start and end' : 'one value'}`
      context.issues.push({ code: 'custom', input: values, path: ['values'], message })
    }
  })
export type CreatedAtFilter = z.infer<typeof CreatedAtFilter>

/** A text to find in any value or output of a row, ignoring case. */
export const Find = z
  .string()
  .min(1, 'must not be empty')
  .max(MAX_SEARCHED)
  .refine((text) => text.isWellFormed() && !text.includes('\0'), 'must be well-formed text without NUL')

/** The key of a cause of failures, as List Causes shows it. */
export const CauseKey = z
  .string()
  .max(64)
  .regex(/^[0-9a-f]{32}$/, 'must be the `cause` of an entry of List Causes')

export const RowSelection = {
  filters: boundedArray(RowFilter, { max: MAX_FILTERS }).optional(),
  status_filters: boundedArray(StatusFilter, { max: MAX_FILTERS }).optional(),
  created_at: CreatedAtFilter.optional(),
  find: Find.optional(),
  cause: CauseKey.optional().describe(
    'The key of a cause of List Causes: rows with a cell that failed for it, in any run',
  ),
  view_id: Uuid.optional().describe('The rows of a view; with other filters, both hold'),
}

const Paging = {
  page_no: z.int().min(1).max(1_000_000_000).default(1),
  page_size: z.int().min(1).max(MAX_PAGE_SIZE).optional(),
}

export const ListRowsBody = z
  .strictObject({
    row_ids: boundedArray(Uuid, { max: MAX_ROW_IDS }).optional(),
    ...Paging,
    ...RowSelection,
    sort: Sort.optional(),
    order_id: Uuid.optional().describe(
      'Reads on in the order of an earlier answer: rows have the places that they had, and the values that they have now. Takes `page_no` and `page_size` only',
    ),
  })
  .check(
    crossCheck((context) => {
      const { row_ids, order_id, page_no: _no, page_size: _size, ...others } = context.value
      const refuse = (name: string, input: unknown, other: string) =>
        context.issues.push({
          code: 'custom',
          input,
          path: [name],
          message: `cannot be combined with ${other}`,
        })
      for (const [name, value] of Object.entries(order_id === undefined ? {} : { ...others, row_ids }))
        if (value !== undefined) refuse(name, value, 'order_id')
      if (order_id !== undefined || row_ids === undefined) return
      for (const [name, value] of Object.entries(others))
        if (value !== undefined) refuse(name, value, 'row_ids')
    }),
  )
  .default({ page_no: 1 })

/** The reference that replaces outputs of more than 32 KB of JSON (D44). */
export const OutputsRef = z.object({
  url: z.string().describe('Returns the outputs as JSON; requires the API key'),
  size_bytes: z.int(),
})

/** The reasons for which a run keeps the former result of a cell (D84). */
export const KEPT_BECAUSE = ['out_of_credits', 'stopped', 'condition_not_met'] as const

export const Kept = {
  kept: z.literal(true).optional().describe('A later run had no new result, so the former result is kept'),
  kept_because: z.enum(KEPT_BECAUSE).optional().describe('Why that run had no new result'),
}

export const Cell = z.object({
  status: z.enum(CELL_STATUSES),
  outputs: z.record(z.string(), z.unknown()).optional(),
  outputs_ref: OutputsRef.optional(),
  error: z.string().optional(),
  ...Kept,
})
export type Cell = z.infer<typeof Cell>

/** A map of values. It is not a zod record: copying would lose legal input names such as __proto__. */
const ValuesByName = z
  .unknown()
  .meta({ type: 'object', description: 'Values by input name; null where missing' }) as z.ZodType<
  Record<string, unknown>
>

export const Row = z
  .object({
    row_id: Uuid,
    row_status: z.enum(ROW_STATUSES),
    created_at: DateTime,
    inputs: ValuesByName,
    cells: z.record(z.string(), Cell),
    stopped: z
      .literal(true)
      .optional()
      .describe('Stop ended the row before its last cell, and it has not run since'),
    open_comments: z
      .object({
        total: z.int(),
        row: z.int().describe('Comments on the row itself'),
        cells: z.record(z.string(), z.int()).describe('By action instance, or token of an input or output'),
      })
      .optional()
      .describe('Comments that are not resolved; absent if there are none'),
    shown: z
      .unknown()
      .optional()
      .describe('With a view: the values of its shown columns by their names; null if empty or above 32 KB'),
  })
  .meta({ id: 'Row' })

export const RowPage = z.object({
  rows: z.array(Row),
  total_count: z.int(),
  page_no: z.int(),
  page_size: z.int(),
  precision: z
    .enum(['exact', 'partial'])
    .optional()
    .describe(
      'With filters over outputs. `partial`: only the first rows were looked at, and `total_count` is of those. Up to 100,000 rows it is `exact`',
    ),
  looked_at: z.int().optional().describe('With filters over outputs: the number of rows looked at'),
  order_id: Uuid.optional().describe('With `sort`: the order of all rows, for further pages'),
  order_expires_at: DateTime.optional().describe('10 minutes after the last use of `order_id`'),
})

export const DeletedRows = z.object({
  deleted_count: z.int(),
  deleted_row_ids: z.array(Uuid),
  rejected: z.array(z.object({ row_id: z.unknown().describe('As it was sent'), error: z.string() })),
})

export const DeletedCount = z.object({ deleted_count: z.int() })
