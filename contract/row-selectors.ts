import { z } from 'zod'
import { Uuid } from './envelope.ts'
import { MAX_SELECTED_IDS, RowSelection } from './rows.ts'
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
}

type Selectors = Partial<Record<keyof typeof RowSelectors, unknown>>

/** Returns the number of selectors in a body. The three kinds of filters, `find` and `cause` together count as one (D65). */
export function countSelectors({ row_ids, first_10, ...selection }: Selectors) {
  const { filters, status_filters, created_at, find, cause } = selection
  const filtered = [filters, status_filters, created_at, find, cause].some((part) => part !== undefined)
  return [row_ids !== undefined, first_10 !== undefined, filtered].filter(Boolean).length
}

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
