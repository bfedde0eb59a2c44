import type { Mismatches, ValuePlaces } from '../../database/connection/json-columns.ts'
import { makeStorableText } from '../../lib/json/storable.ts'
import { createNormalizedValues } from '../../sheets/rows/normalized-values.ts'
import { createTypeCheck } from '../../sheets/rows/type-mismatches.ts'
import type { Batch, SourceRecord } from '../reading/records.ts'
import type { ImportRecord } from '../store/imports.ts'

/** Rows that are written together: enough to be fast, little enough to be soon done and to fit into memory. */
const CHUNK_ROWS = 5000
const CHUNK_LENGTH = 4 * 1024 * 1024

/**
 * Rows in their stored form, where the file goes on after them, and which values up to there do not fit their input (D79) or had
 * to be changed (D28).
 */
export type Chunk = {
  rows: string[]
  position: unknown
  mismatches: Mismatches[]
  normalized: ValuePlaces[]
}

type Begun = Pick<ImportRecord, 'mapping' | 'mismatches' | 'normalized' | 'rows_imported'>

export async function* chunksOf(
  batches: AsyncIterable<Batch>,
  { mapping, mismatches, normalized: earlier, rows_imported }: Begun,
): AsyncGenerator<Chunk> {
  const columns = mapping.map(({ column }) => column)
  const inputs = mapping.map(({ name = '', type = 'string' }) => ({ name, type }))
  const types = createTypeCheck(inputs, mismatches)
  const normalized = createNormalizedValues(earlier)
  const chunk = (rows: string[], position: unknown): Chunk => ({
    rows,
    position,
    mismatches: types.mismatches(),
    normalized: normalized.list(),
  })
  let place = rows_imported
  let rows: string[] = []
  let length = 0
  let position: unknown
  for await (const batch of batches) {
    for (const record of batch.records) {
      const row = encode(record, columns, (at) => normalized.add(inputs[at]?.name ?? '', place))
      rows.push(row)
      types.lookAtAll(record, place)
      place += 1
      length += row.length
    }
    position = batch.position
    if (rows.length < CHUNK_ROWS && length < CHUNK_LENGTH) continue
    yield chunk(rows, position)
    rows = []
    length = 0
  }
  if (rows.length > 0) yield chunk(rows, position)
}

const IGNORE = () => undefined

/**
 * JSON of an object keyed by column number. Empty cells are left out, so that they read as null. `note` is told of each value
 * that could not be stored as it is.
 */
function encode(record: SourceRecord, columns: readonly number[], note: (at: number) => void): string {
  const row: Record<number, string> = {}
  for (const [at, column] of columns.entries()) {
    const value = record[at]
    if (!value) continue
    const text = makeStorableText(value, IGNORE)
    if (text !== value) note(at)
    row[column] = text
  }
  return JSON.stringify(row)
}
