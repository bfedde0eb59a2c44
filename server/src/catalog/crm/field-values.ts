import { NumberText } from '../../lib/json/lossless-json.ts'
import { textOf } from '../chain/references.ts'
import type { Pair } from '../fields/fields.ts'

/** What a field of a record is to hold or to equal; null is empty. */
export type FieldValue = string | number | boolean | NumberText | null
export type FieldValues = ReadonlyMap<string, FieldValue>

/** The values of pairs by their names, the last where a name is repeated. Pairs without a name were not filled in. */
export function readValues(pairs: readonly Pair[], ignoreEmpty: boolean): FieldValues {
  const values = pairs
    .map(({ name, value }): [string, FieldValue] => [textOf(name).trim(), toFieldValue(value)])
    .filter(([name, value]) => name !== '' && !(ignoreEmpty && value === null))
  return new Map(values)
}

function toFieldValue(value: unknown): FieldValue {
  if (typeof value === 'number' || typeof value === 'boolean' || value instanceof NumberText) return value
  // Both CRMs write fields of several choices like this.
  const text = Array.isArray(value) ? value.map(textOf).join(';') : textOf(value)
  return text.trim() === '' ? null : text
}

export function printValue(value: FieldValue): string {
  return value instanceof NumberText ? value.source : String(value ?? '')
}

/** The value of a field by its name, which CRMs read without regard to case. */
export function findValue(values: FieldValues, name: string): FieldValue {
  return [...values].find(([known]) => isSameName(known, name))?.[1] ?? null
}

/** All but some fields. */
export function omitValues(values: FieldValues, ...names: string[]): FieldValues {
  return new Map([...values].filter(([known]) => !names.some((name) => isSameName(known, name))))
}

const isSameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()
