import type { Readable } from 'node:stream'

/** Stores files by keys, `<org_id>/<name>`. */
export type Storage = {
  /** Writes the whole file or nothing, and replaces an existing one. Returns its size. */
  write(key: string, body: AsyncIterable<Uint8Array>): Promise<number>
  /** Reads a file, or returns null if it does not exist. `start` and `end` (exclusive) are bytes. */
  read(key: string, range?: { start?: number; end?: number }): Promise<Readable | null>
  size(key: string): Promise<number | null>
  remove(key: string): Promise<void>
}
