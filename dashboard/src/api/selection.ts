import type { RowFilter, StatusFilter } from '#contract/rows.ts'

/** A selection of rows: the filters and the search text. */
export type Selection = { filters: RowFilter[]; status_filters: StatusFilter[]; find: string }
