import { toStorableJson } from '../../lib/json/storable.ts'
import type { Batch, SourceRecord } from '../reading/records.ts'

/** Rows that are written together: enough to be fast, little enough to be soon done and to fit into memory. */
const CHUNK_ROWS = 5000
const CHUNK_LENGTH = 4 * 1024 * 1024

/** Rows in their stored form, and where the file goes on after them. */
export type Chunk = { rows: string[]; position: unknown }

export async function* chunksOf(
  batches: AsyncIterable<Batch>,
  columns: readonly number[],
): AsyncGenerator<Chunk> {
  let rows: string[] = []
  let length = 0
  let position: unknown
  for await (const batch of batches) {
    for (const record of batch.records) {
      const row = encode(record, columns)
      rows.push(row)
      length += row.length
    }
    position = batch.position
    if (rows.length < CHUNK_ROWS && length < CHUNK_LENGTH) continue
    yield { rows, position }
    rows = []
    length = 0
  }
  if (rows.length > 0) yield { rows, position }
}

/** JSON of an object keyed by column number. Empty cells are left out, so that they read as null. */
function encode(record: SourceRecord, columns: readonly number[]): string {
  const row: Record<number, string> = {}
  for (const [place, column] of columns.entries()) {
    const value = record[place]
    if (value) row[column] = value
  }
  return toStorableJson(row)
}
