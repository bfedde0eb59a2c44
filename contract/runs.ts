import { z } from 'zod'
import { Sort } from './columns.ts'
import { DateTime, Uuid } from './envelope.ts'
import { Credits } from './numbers.ts'
import { checkExcluded, countSelectors, Excluded, hasSelection, RowSelectors } from './row-selectors.ts'
import { CELL_STATUSES, Kept, OutputsRef, RowSelection } from './rows.ts'
import { boundedArray, crossCheck } from './schema-checks.ts'
import { DryRun, MaxCredits, Spending } from './spending.ts'

export const MAX_ROW_IDS_PER_ACTION_RUN = 1000
export const FIRST_ROWS = 10

const SELECTORS =
  '`row_ids`, `first_10: true`, or `filters` / `status_filters` / `created_at` / `cause` / `view_id`'

/** The place where a row begins: its first action, or its first failed or missing cell (H11). */
export const From = z
  .enum(['start', 'failure'])
  .default('start')
  .describe(
    '`start`: rows run from their first action. `failure`: each row runs from its first failed or missing cell; rows without one are not queued',
  )

/** The body of Run Rows: exactly one selector (D65). */
export const RunRowsBody = z
  .strictObject({
    ...RowSelectors,
    ...Excluded,
    sort: Sort.optional(),
    from: From,
    ...Spending,
  })
  .check(
    crossCheck((context) => {
      checkExcluded(context)
      const given = countSelectors(context.value) + Number(context.value.all !== undefined)
      if (given === 1) return
      const message =
        given === 0
          ? `needs a selector: \`all: true\`, ${SELECTORS}`
          : `takes exactly one selector: \`all: true\`, ${SELECTORS}`
      context.issues.push({ code: 'custom', input: context.value, path: [], message })
    }),
  )

/** The subsets of rows that can be run: those whose chain did not reach its end, or those with a failure (D78). */
export const ONLY_ROWS = ['unfinished', 'failed'] as const
export type OnlyRows = (typeof ONLY_ROWS)[number]

/** The subsets of rows for a run of one action: those whose cell of it failed, those without one, or both (H10). */
export const ONLY_CELLS = ['empty_and_failed', 'failed', 'empty'] as const
export type OnlyCells = (typeof ONLY_CELLS)[number]

/** The body of Run All Rows: every row, the rows of `only`, or the rows of a selector of Run Rows (D86). */
export const RunAllBody = z
  .strictObject({
    ...RowSelectors,
    only: z
      .enum(ONLY_ROWS)
      .optional()
      .describe(
        '`failed`: rows with a cell that failed; `unfinished`: also those that never ran or were stopped. All their actions run, and are billed, again',
      ),
    from: From,
    ...Spending,
  })
  .check(
    crossCheck((context) => {
      if (countSelectors(context.value) + Number(context.value.only !== undefined) <= 1) return
      const message = `takes at most one selector: \`only\`, ${SELECTORS}`
      context.issues.push({ code: 'custom', input: context.value, path: [], message })
    }),
  )
  .default({ from: 'start' })

export const RunActionBody = z
  .strictObject({
    row_ids: boundedArray(Uuid, { max: MAX_ROW_IDS_PER_ACTION_RUN }).optional(),
    only: z
      .enum(ONLY_CELLS)
      .optional()
      .describe(
        '`empty`: rows without a cell of this action; `failed`: rows in which it failed. Narrows the other selectors',
      ),
    run_next_action: z.boolean().default(false),
    ...RowSelection,
    sort: Sort.optional(),
    ...Spending,
  })
  .check(
    crossCheck((context) => {
      const { row_ids } = context.value
      if (Array.isArray(row_ids) && row_ids.length > 0 && hasSelection(context.value)) {
        const message = 'cannot be combined with filters, status_filters, created_at or view_id'
        context.issues.push({ code: 'custom', input: row_ids, path: ['row_ids'], message })
      }
    }),
  )
  .default({ run_next_action: false })

export const Queued = z.object({ rows_queued: z.int() })
export const Stopped = z.object({ rows_stopped: z.int().describe('Rows that stop before their last cell') })

export const LIMIT_KINDS = ['max_credits', 'budget', 'balance'] as const

/** The limit that had too few credits left. */
export const StoppedBy = z.object({ kind: z.enum(LIMIT_KINDS), budget_id: Uuid.optional() })

const CellBilling = z
  .object({
    credits: Credits,
    price_version: z.int().describe('The version of the prices when its run was queued'),
    entry_id: Uuid.nullable().describe('The ledger entry of the charge; null if nothing was charged'),
    cached_from: z
      .object({ run_id: Uuid.nullable(), at: DateTime })
      .nullable()
      .describe('The run whose cached answer was used'),
    saved_by_cache: Credits,
    saved_by_own_keys: Credits,
    stopped_by: StoppedBy.nullable(),
    lines: z
      .array(
        z.object({
          provider: z.string().nullable().describe('Null for the own price of the action'),
          status: z.string(),
          credits: Credits,
          list_credits: Credits.describe('The price with the key of the installation'),
          why: z.string(),
        }),
      )
      .describe('The lines add up to `credits`'),
  })
  .meta({ id: 'CellBilling' })

export const CellDetail = z
  .object({
    row_id: Uuid,
    action_instance_id: z.string(),
    status: z.enum(CELL_STATUSES),
    outputs: z.unknown().optional(),
    outputs_ref: OutputsRef.optional(),
    error: z.string().optional(),
    ...Kept,
    previous: z
      .object({
        status: z.literal('complete'),
        outputs: z.unknown().optional(),
        outputs_ref: OutputsRef.optional(),
        run_id: Uuid,
        completed_at: DateTime,
        credits: Credits,
      })
      .optional()
      .describe('The former result of a cell that now has none; it can be restored for 7 days'),
    waiting: z
      .object({ kind: z.enum(LIMIT_KINDS), needed: Credits })
      .nullable()
      .optional()
      .describe(
        'Only of a queued cell: the limit of which other running cells hold the credits that it needs; null if it waits for its turn',
      ),
    provenance: z
      .object({
        run_id: Uuid,
        revision: z.int(),
        attempts: z.int(),
        duration_ms: z.int(),
        credits: Credits,
        cache_hit: z.boolean(),
        started_at: DateTime,
        completed_at: DateTime,
        providers: z.array(z.unknown()),
      })
      .optional()
      .describe('Absent while the cell is queued or running'),
    billing: CellBilling.optional().describe('Absent while the cell is queued or running'),
  })
  .meta({ id: 'CellDetail' })

/** The body of Restore Cell, which has no fields. */
export const RestoreCellBody = z.strictObject({}).default({})

export const Run = z
  .object({
    run_id: Uuid,
    trigger: z.string(),
    state: z.enum(['running', 'finished', 'stopped']),
    revision: z.int(),
    actions: z.array(z.string()),
    rows_queued: z.int(),
    rows_done: z.int(),
    cells_done: z.int(),
    cells_failed: z.int(),
    rows_failed: z.int().describe('Rows with a cell that failed; rows without credits are counted apart'),
    cells_skipped: z.int().describe('Cells that a condition skipped'),
    cells_kept: z.int().describe('Cells that had no new result and kept their former one'),
    max_credits: Credits.nullable().describe(
      'The credit limit of the run, shared with everything that the same request started',
    ),
    credits: Credits.describe('Credits spent so far'),
    credits_held: Credits.describe('Credits reserved for running cells, as of a second ago'),
    price_version: z.int().describe('The version of the prices when the run was queued'),
    key_id: Uuid.nullable(),
    rows_out_of_credits: z
      .int()
      .describe('Rows that stopped because credits ran out; they continue when the run is resumed'),
    stopped_by: StoppedBy.nullable().describe('The limit that had too few credits left for those rows'),
    created_by: z.string(),
    started_in: z
      .enum(['dashboard', 'api'])
      .nullable()
      .describe('Where the member started it; null if it started by itself, or the key is gone'),
    created_at: DateTime,
    finished_at: DateTime.nullable(),
  })
  .meta({ id: 'Run' })

export const ResumeRunBody = z
  .strictObject({
    max_credits: MaxCredits.nullable()
      .optional()
      .describe(
        'The credit limit of the whole run, including credits already spent; null removes the limit; unchanged when absent',
      ),
    dry_run: DryRun,
  })
  .default({})
