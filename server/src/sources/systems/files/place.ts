import { z } from 'zod'

/** Where in a file the next row starts, and what its first row has shown. */
export const FilePlace = z.object({
  byte: z.int().nonnegative(),
  /** Bytes that are asked for at once. */
  size: z.int().positive(),
  delimiter: z.string().nullable(),
  columns: z.array(z.object({ name: z.string(), place: z.int().nonnegative() })).nullable(),
})
export type FilePlace = z.infer<typeof FilePlace>

const FIRST_SIZE = 256 * 1024
export const FILE_START: FilePlace = { byte: 0, size: FIRST_SIZE, delimiter: null, columns: null }

/** Some bytes of a file; `more` when it goes on behind them. */
export type Chunk = { bytes: Uint8Array; more: boolean }
export type FilePage = {
  rows: Record<string, unknown>[]
  /** Null behind the last row. */
  next: FilePlace | null
}

const MIN_SIZE = 64 * 1024
const MAX_SIZE = 4 * 1024 * 1024

/** How much to ask for next: as much as was used, and twice as much where not even one row was whole. */
export function nextSize(size: number, used: number): number | null {
  if (used > 0) return Math.min(MAX_SIZE, Math.max(MIN_SIZE, Math.ceil(used * 1.25)))
  return size >= MAX_SIZE ? null : size * 2
}
