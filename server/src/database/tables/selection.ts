import type { CreatedAtFilter, RowFilter, StatusFilter } from '#contract/rows.ts'

/** A selection of rows, with the names of inputs already resolved to column numbers. */
export type Selection = {
  filters: ValueFilter[]
  statusFilters: StatusFilter[]
  createdAt: CreatedAtFilter | undefined
  /** The filter by time of creation of a view, which holds as well. */
  createdAlso?: CreatedAtFilter | undefined
  /** A text that at least one value or output of the row contains. */
  find?: string | undefined
  /** The key of a cause: the rows with a cell that failed for it. */
  cause?: string | undefined
}

/** The place of a value in a row: an input, or an output of an action, and perhaps a path into it (D75). */
export type ValueSource = InputSource | OutputSource
export type InputSource = { column: number } & ValuePath
export type OutputSource = { action: string; output: string } & ValuePath

type ValuePath = {
  /** The keys and places of the path. */
  steps?: readonly (string | number)[]
  /** A key that goes before the path, if a value has it. */
  whole?: string
}

/** A column of a sheet: a value, the status of the cell of an action, or the time of creation. */
export type SheetColumn = ValueSource | { statusOf: string } | { field: 'created_at' }

export type SortKey = { column: SheetColumn; direction: 'asc' | 'desc' }

/** A filter on a value. `kind` is set for outputs of which it is known that they are text or lists. */
export type ValueFilter = Pick<RowFilter, 'operator' | 'values'> & ValueSource & { kind?: 'text' | 'list' }
