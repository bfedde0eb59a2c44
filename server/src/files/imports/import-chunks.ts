import { toStorableJson } from '../../lib/json/storable.ts'
import { createTypeCheck } from '../../rows/type-mismatches.ts'
import type { Mismatches } from '../../store/connection/json-columns.ts'
import type { ImportRecord } from '../../store/files/imports.ts'
import type { Batch, SourceRecord } from '../reading/records.ts'

/** Rows that are written together: enough to be fast, little enough to be soon done and to fit into memory. */
const CHUNK_ROWS = 5000
const CHUNK_LENGTH = 4 * 1024 * 1024

/** Rows in their stored form, where the file goes on after them, and which values up to there do not fit their input (D79). */
export type Chunk = { rows: string[]; position: unknown; mismatches: Mismatches[] }

export async function* chunksOf(
  batches: AsyncIterable<Batch>,
  { mapping, mismatches, rows_imported }: Pick<ImportRecord, 'mapping' | 'mismatches' | 'rows_imported'>,
): AsyncGenerator<Chunk> {
  const columns = mapping.map(({ column }) => column)
  const inputs = mapping.map(({ name = '', type = 'string' }) => ({ name, type }))
  const types = createTypeCheck(inputs, mismatches)
  let place = rows_imported
  let rows: string[] = []
  let length = 0
  let position: unknown
  for await (const batch of batches) {
    for (const record of batch.records) {
      const row = encode(record, columns)
      rows.push(row)
      types.lookAtAll(record, place)
      place += 1
      length += row.length
    }
    position = batch.position
    if (rows.length < CHUNK_ROWS && length < CHUNK_LENGTH) continue
    yield { rows, position, mismatches: types.mismatches() }
    rows = []
    length = 0
  }
  if (rows.length > 0) yield { rows, position, mismatches: types.mismatches() }
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
