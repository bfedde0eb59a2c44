/** A stored row. `data` is JSON text keyed by column number; the caller decides how to read its numbers. */
export type StoredRow = {
  row_id: string
  data: string
  /** The cells as `packedCells` makes them, if they were read with the row. */
  cells?: string | undefined
}
