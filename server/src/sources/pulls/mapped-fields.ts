import type { InputColumn } from '../../catalog/chain/definition.ts'
import type { Db } from '../../database/connection/db.ts'
import { changeMapping, findFields } from '../store/source-sync-fields.ts'
import type { MappedField, SyncRecord } from '../store/source-syncs.ts'

/**
 * Returns the mapping that replaces another. Columns with a new field are marked to be filled in existing rows (D89).
 */
export function replaceMapping(
  mapping: readonly MappedField[],
  former: readonly MappedField[] | undefined,
): MappedField[] {
  if (former === undefined) return [...mapping]
  const known = new Map(former.map((one) => [one.column, one]))
  return mapping.map((one) => {
    const before = known.get(one.column)
    if (before?.field !== one.field) return { ...one, fill_after: 0 }
    return before.fill_after === undefined ? one : { ...one, fill_after: before.fill_after }
  })
}

/** Returns the fields that rows wait for, because no record has had them so far. */
export const awaitedFields = (mapping: readonly MappedField[]): string[] => [
  ...new Set(mapping.flatMap(({ field, absent_to }) => (absent_to === undefined ? [] : [field]))),
]

/**
 * Searches records not checked yet for fields that no record had. `absent`: all are checked and a field is still
 * missing. `more`: there are records left to check.
 */
export async function findAwaited(
  trx: Db,
  sync: SyncRecord,
  inputs: readonly InputColumn[],
): Promise<'found' | 'absent' | 'more'> {
  const columns = new Set(inputs.map(({ column }) => column))
  const awaited = sync.mapping.filter(
    ({ column, absent_to }) => absent_to !== undefined && columns.has(column),
  )
  if (awaited.length === 0) return 'found'
  const after = Math.min(...awaited.map(({ absent_to = 0 }) => absent_to))
  const { found, end } = await findFields(trx, sync, { fields: awaitedFields(awaited), after })
  if (end === null) return 'absent'
  const mapping = sync.mapping.map(({ absent_to, ...one }) =>
    absent_to === undefined || found.includes(one.field)
      ? one
      : { ...one, absent_to: Math.max(absent_to, end) },
  )
  await changeMapping(trx, sync, mapping)
  return 'more'
}
