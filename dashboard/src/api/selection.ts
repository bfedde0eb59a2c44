import type { RowFilter, StatusFilter } from '#contract/rows.ts'

/** A selection of rows: the filters, the search text, and the key of a cause of failures. Empty texts select nothing. */
export type Selection = { filters: RowFilter[]; status_filters: StatusFilter[]; find: string; cause: string }

export const ALL_ROWS: Selection = { filters: [], status_filters: [], find: '', cause: '' }
