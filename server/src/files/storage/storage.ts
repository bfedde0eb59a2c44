import type { Readable } from 'node:stream'

/** Files by their keys, `<org_id>/<name>`. */
export type Storage = {
  /** The whole file or nothing of it; replaces what is there. Answers its size. */
  write(key: string, body: AsyncIterable<Uint8Array>): Promise<number>
  /** null when it is not there. `start` and `end` (exclusive) are bytes. */
  read(key: string, range?: { start?: number; end?: number }): Promise<Readable | null>
  size(key: string): Promise<number | null>
  remove(key: string): Promise<void>
}
