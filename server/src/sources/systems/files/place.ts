import { z } from 'zod'

/** The position of the next row in a file, with the delimiter and the columns found in its first row. */
export const FilePlace = z.object({
  byte: z.int().nonnegative(),
  /** The number of bytes requested at once. */
  size: z.int().positive(),
  delimiter: z.string().nullable(),
  columns: z.array(z.object({ name: z.string(), place: z.int().nonnegative() })).nullable(),
})
export type FilePlace = z.infer<typeof FilePlace>

const FIRST_SIZE = 256 * 1024
export const FILE_START: FilePlace = { byte: 0, size: FIRST_SIZE, delimiter: null, columns: null }

/** Bytes of a file. `more` is true if the file continues after them. */
export type Chunk = { bytes: Uint8Array; more: boolean }
export type FilePage = {
  rows: Record<string, unknown>[]
  /** The next position, or null after the last row. */
  next: FilePlace | null
}

const MIN_SIZE = 64 * 1024
const MAX_SIZE = 4 * 1024 * 1024

/**
 * Returns how many bytes to request next: about as many as were used, or twice as many if no row was complete. Returns
 * null at the maximum.
 */
export function nextSize(size: number, used: number): number | null {
  if (used > 0) return Math.min(MAX_SIZE, Math.max(MIN_SIZE, Math.ceil(used * 1.25)))
  return size >= MAX_SIZE ? null : size * 2
}
