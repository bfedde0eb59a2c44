import type { z } from 'zod'
import type { Sort as SortSchema } from '#contract/columns.ts'
import type { CreatedAtFilter, RowFilter, StatusFilter } from '#contract/rows.ts'

/** A selection of rows: the filters, the search text, and the key of a cause of failures. Empty texts select nothing. */
export type Selection = {
  filters: RowFilter[]
  status_filters: StatusFilter[]
  created_at: CreatedAtFilter | null
  find: string
  cause: string
}

/** The order of rows: up to three columns, the first one first. */
export type Sort = z.infer<typeof SortSchema>

export const ALL_ROWS: Selection = { filters: [], status_filters: [], created_at: null, find: '', cause: '' }
