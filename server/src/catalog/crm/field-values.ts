import { NumberText } from '../../lib/json/lossless-json.ts'
import { textOf } from '../chain/references.ts'
import type { Pair } from '../fields/fields.ts'

/** A value to write to a field of a record, or to compare with it. Null means empty. */
export type FieldValue = string | number | boolean | NumberText | null
export type FieldValues = ReadonlyMap<string, FieldValue>

/**
 * Returns the values of pairs by name; the last counts if a name is repeated. Pairs without a name were not filled in.
 */
export function readValues(pairs: readonly Pair[], ignoreEmpty: boolean): FieldValues {
  const values = pairs
    .map(({ name, value }): [string, FieldValue] => [textOf(name).trim(), toFieldValue(value)])
    .filter(([name, value]) => name !== '' && !(ignoreEmpty && value === null))
  return new Map(values)
}

function toFieldValue(value: unknown): FieldValue {
  if (typeof value === 'number' || typeof value === 'boolean' || value instanceof NumberText) return value
  // Both CRMs write fields with several choices in this form.
  const text = Array.isArray(value) ? value.map(textOf).join(';') : textOf(value)
  return text.trim() === '' ? null : text
}

export function printValue(value: FieldValue): string {
  return value instanceof NumberText ? value.source : String(value ?? '')
}

/** Returns the value of a field by its name, ignoring case as CRMs do. */
export function findValue(values: FieldValues, name: string): FieldValue {
  return [...values].find(([known]) => isSameName(known, name))?.[1] ?? null
}

/** Returns all values except those of the named fields. */
export function omitValues(values: FieldValues, ...names: string[]): FieldValues {
  return new Map([...values].filter(([known]) => !names.some((name) => isSameName(known, name))))
}

const isSameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()
