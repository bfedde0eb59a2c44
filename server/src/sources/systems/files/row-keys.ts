import { z } from 'zod'
import { FileFault } from '../../../lib/csv/file-fault.ts'
import type { Keyed } from '../../pull.ts'
import { contentKey, keyText } from '../../rows.ts'

/** The field of a source that names the column for `keyRows`. */
export const KeyColumn = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .describe('The column that tells a row for ever; without it a row is told by all its values')
  .optional()

/** Rows of a file with their keys: a column, or all values where there is none. */
export function keyRows(
  rows: readonly Record<string, unknown>[],
  column: string | undefined,
): Keyed<Record<string, unknown>>[] {
  return rows.map((row) => {
    if (column !== undefined && !Object.hasOwn(row, column)) {
      throw new FileFault(`There is no column ${column}; those there are: ${Object.keys(row).join(', ')}`)
    }
    const key = column === undefined ? '' : keyText(row[column])
    return { key: key === '' ? contentKey(row) : key, row }
  })
}
