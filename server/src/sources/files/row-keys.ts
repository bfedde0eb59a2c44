import { textOf } from '../../chain/references.ts'
import { FileFault } from '../../lib/csv/file-fault.ts'
import type { Keyed } from '../pull.ts'
import { contentKey } from '../rows.ts'

/** Rows of a file with their keys: a column, or all values where there is none. */
export function keyRows(
  rows: readonly Record<string, unknown>[],
  column: string | undefined,
): Keyed<Record<string, unknown>>[] {
  return rows.map((row) => {
    if (column !== undefined && !Object.hasOwn(row, column)) {
      throw new FileFault(`There is no column ${column}; those there are: ${Object.keys(row).join(', ')}`)
    }
    const key = column === undefined ? '' : textOf(row[column])
    return { key: key === '' ? contentKey(row) : key, row }
  })
}
