import type { CreatedAtFilter, RowFilter, StatusFilter } from '#contract/rows.ts'

/** A choice of rows, with column names already turned into column numbers. */
export type Selection = {
  filters: (Pick<RowFilter, 'operator' | 'values'> & { column: number })[]
  statusFilters: StatusFilter[]
  createdAt: CreatedAtFilter | undefined
  /** Text that some value or output of the row holds. */
  find?: string | undefined
}
