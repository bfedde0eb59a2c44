import type { CellStatus } from '#contract/rows.ts'

/** A stored row. `data` is JSON text keyed by column number; the caller decides how to read its numbers. */
export type StoredRow = {
  row_id: string
  data: string
  /** Where they were read with the row; null when it has none. */
  cells?: PackedCell[] | null | undefined
}

/** A cell as a page brings it: outputs as JSON text, or else what they take in the database and when they were written. */
export type PackedCell = [
  action: string,
  status: CellStatus,
  error: string | null,
  outputs: string | null,
  storedBytes: number | null,
  version: string | null,
]
