import { textOf } from '../chain/references.ts'
import type { Pair } from '../fields/fields.ts'

export type WireValues = ReadonlyMap<string, unknown>

/**
 * Returns the values of pairs by name, as JSON values; the last counts if a name is repeated. Empty values are null.
 */
export function readWireValues(pairs: readonly Pair[], ignoreEmpty: boolean): WireValues {
  const values = pairs
    .map(({ name, value }): [string, unknown] => [textOf(name).trim(), isEmpty(value) ? null : value])
    .filter(([name, value]) => name !== '' && !(ignoreEmpty && value === null))
  return new Map(values)
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === ''
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0)
}

export const NOTHING_TO_WRITE = 'nothing to write: none of the values has a value'
