import type { InputColumn } from '../../catalog/chain/definition.ts'
import type { Db } from '../../database/connection/db.ts'
import { changeMapping, findFields } from '../store/source-sync-fields.ts'
import type { MappedField, SyncRecord } from '../store/source-syncs.ts'

/** The mapping of a sync that replaces another: what rows got nothing from by the former one is filled (D89). */
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

/** Fields that rows wait for, since no record had them so far. */
export const awaitedFields = (mapping: readonly MappedField[]): string[] => [
  ...new Set(mapping.flatMap(({ field, absent_to }) => (absent_to === undefined ? [] : [field]))),
]

/**
 * Looks for fields that no record had, in records that were not looked at yet. `absent`: all were looked at, and one of the
 * fields is still missing. `more`: there are others to look at.
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
