/** A stored row. `data` is JSON text keyed by column number; the caller decides how to read its numbers. */
export type StoredRow = {
  row_id: string
  data: string
  /** Where they were read with the row, as `packedCells` makes them. */
  cells?: string | undefined
}
