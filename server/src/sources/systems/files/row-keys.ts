import { z } from 'zod'
import { FileFault } from '../../../lib/csv/file-fault.ts'
import type { Keyed } from '../../pull.ts'
import { contentKey, keyText } from '../../rows.ts'

/** The source field that names the key column for `keyRows`. */
export const KeyColumn = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .describe('The column that identifies a row permanently; without it all values of a row identify it')
  .optional()

/** Adds keys to the rows of a file: the value of the key column, or a hash of all values if there is none. */
export function keyRows(
  rows: readonly Record<string, unknown>[],
  column: string | undefined,
): Keyed<Record<string, unknown>>[] {
  return rows.map((row) => {
    if (column !== undefined && !Object.hasOwn(row, column)) {
      throw new FileFault(`There is no column ${column}; the columns are: ${Object.keys(row).join(', ')}`)
    }
    const key = column === undefined ? '' : keyText(row[column])
    return { key: key === '' ? contentKey(row) : key, row }
  })
}
