import { z } from 'zod'
import { Uuid } from './envelope.ts'
import { MAX_ROW_IDS, MAX_SELECTED_IDS, RowSelection } from './rows.ts'
import { boundedArray, crossCheck } from './schema-checks.ts'

/** The row selectors of Run Rows, Run All Rows, Delete All Rows and estimates (D86). */
export const RowSelectors = {
  row_ids: boundedArray(Uuid, { min: 1, max: MAX_SELECTED_IDS }).optional(),
  first_10: z.literal(true).optional(),
  filters: RowSelection.filters.refine((list) => list?.length !== 0, 'must be non-empty'),
  status_filters: RowSelection.status_filters.refine((list) => list?.length !== 0, 'must be non-empty'),
  created_at: RowSelection.created_at,
  find: RowSelection.find,
  cause: RowSelection.cause,
  view_id: RowSelection.view_id,
}

type Selectors = Partial<Record<keyof typeof RowSelectors, unknown>>

const { row_ids: _ids, first_10: _first, ...SELECTION } = RowSelectors

/** Tells whether a body selects rows by filters or a view. */
export function hasSelection(body: Selectors): boolean {
  const { filters, status_filters, created_at, find, cause, view_id } = body
  return [filters, status_filters, created_at, find, cause, view_id].some((part) => part !== undefined)
}

/** Returns the number of selectors in a body. The three kinds of filters, `find`, `cause` and `view_id` together count as one (D65). */
export function countSelectors(body: Selectors): number {
  const { row_ids, first_10 } = body
  return [row_ids !== undefined, first_10 !== undefined, hasSelection(body)].filter(Boolean).length
}

/** The rows that are left out of a selection, or of all rows. */
export const Excluded = {
  all: z.literal(true).optional().describe('Every row of the sheet'),
  exclude_row_ids: boundedArray(Uuid, { max: MAX_SELECTED_IDS })
    .optional()
    .describe('Left out of the rows of a selection, or of `all: true`'),
}

/** Reports `exclude_row_ids` beside a selector that is no selection. */
export function checkExcluded(
  context: z.core.ParsePayload<Selectors & { all?: unknown; exclude_row_ids?: unknown }>,
): void {
  const { all, exclude_row_ids } = context.value
  if (exclude_row_ids === undefined || all !== undefined || hasSelection(context.value)) return
  const message = 'needs a selection by filters or a view, or `all: true`'
  context.issues.push({ code: 'custom', input: exclude_row_ids, path: ['exclude_row_ids'], message })
}

/**
 * The body of Delete Rows: ids, a selection, or `all: true`. A value of `row_ids` that is no id is reported in `rejected` (D43).
 */
export const DeleteRowsBody = z
  .strictObject({
    ...SELECTION,
    ...Excluded,
    row_ids: boundedArray(z.unknown().meta({ type: 'string' }), { min: 1, max: MAX_ROW_IDS }).optional(),
  })
  .check(
    crossCheck((context) => {
      checkExcluded(context)
      const { row_ids, all } = context.value
      const given = [row_ids !== undefined, all !== undefined, hasSelection(context.value)].filter(
        Boolean,
      ).length
      if (given === 1) return
      const field = given === 0 ? 'row_ids' : 'body'
      const message =
        given === 0
          ? 'required, or a selection by filters or a view, or `all: true`'
          : 'takes one of `row_ids`, a selection by filters or a view, and `all: true`'
      const path = field === 'body' ? [] : [field]
      context.issues.push({ code: 'custom', input: context.value, path, message })
    }),
  )

/** The body of Delete All Rows. Without a selector, every row is deleted. */
export const DeleteAllBody = z
  .strictObject(RowSelectors)
  .check(
    crossCheck((context) => {
      if (countSelectors(context.value) <= 1) return
      const message =
        'takes at most one selector: `row_ids`, `first_10: true`, or `filters` / `status_filters` / `created_at` / `cause`'
      context.issues.push({ code: 'custom', input: context.value, path: [], message })
    }),
  )
  .default({})
