import type { Mismatches, ValuePlaces } from '../../database/connection/json-columns.ts'
import { makeStorableText } from '../../lib/json/storable.ts'
import { createNormalizedValues, createTypeCheck } from '../../sheets/rows/value-warnings.ts'
import type { Batch, SourceRecord } from '../reading/records.ts'
import type { ImportRecord } from '../store/imports.ts'

/** The rows written together: enough to be fast, few enough to finish soon and to fit into memory. */
const CHUNK_ROWS = 5000
const CHUNK_LENGTH = 4 * 1024 * 1024

/**
 * The rows of a chunk in stored form, with the file position after them. It includes which values so far do not fit
 * their input (D79) or had to be changed (D28).
 */
export type Chunk = {
  rows: string[]
  position: unknown
  mismatches: Mismatches[]
  normalized: ValuePlaces[]
}

type Begun = Pick<ImportRecord, 'mapping' | 'mismatches' | 'normalized' | 'rows_imported'>

export async function* readChunks(
  batches: AsyncIterable<Batch>,
  { mapping, mismatches, normalized: earlier, rows_imported }: Begun,
): AsyncGenerator<Chunk> {
  const columns = mapping.map(({ column }) => column)
  const inputs = mapping.map(({ name = '', type = 'string', choices }) => ({ name, type, choices }))
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
 * Returns a row as a JSON object keyed by column number. Empty cells are left out, so that they read as null. `note` is
 * called for each value that had to be changed to be stored.
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
