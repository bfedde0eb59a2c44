import type { CreatedAtFilter, RowFilter, StatusFilter } from '#contract/rows.ts'

/** A selection of rows, with column names already resolved to column numbers. */
export type Selection = {
  filters: (Pick<RowFilter, 'operator' | 'values'> & { column: number })[]
  statusFilters: StatusFilter[]
  createdAt: CreatedAtFilter | undefined
  /** A text that at least one value or output of the row contains. */
  find?: string | undefined
  /** The key of a cause: the rows with a cell that failed for it. */
  cause?: string | undefined
}
