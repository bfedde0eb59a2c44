import { createHash } from 'node:crypto'
import { z } from 'zod'
import { textOf } from '../catalog/chain/references.ts'
import { NumberText } from '../lib/json/lossless-json.ts'
import { ownValue } from '../lib/json/object.ts'

/** A text that a provider shows in full. Masked texts such as `J***` and `a•••@acme.com` are not imported. */
export const unmasked = z
  .string()
  .refine((text) => !/\*{2,}|[•●█]{2,}|\*@|@\*/.test(text), { error: 'is masked' })

const MAX_KEY = 200

/** Returns the stored form of a record's key. Long keys, and those that PostgreSQL cannot store, are hashed. */
export function printKey(key: string | number): string {
  const text = String(key)
  const isPlain = text !== '' && text.length <= MAX_KEY && text.isWellFormed() && !text.includes('\0')
  return isPlain ? text : hashText(text)
}

/** Different numbers with fewer characters than this are also different as doubles. */
const LONG_NUMBER = 16

/**
 * Returns the text of a value that identifies a record. 5.0 is the same key as 5; in a long number every digit counts
 * (D49).
 */
export function keyText(value: unknown): string {
  const isShort = value instanceof NumberText && value.source.length < LONG_NUMBER
  return textOf(isShort ? Number(value.source) : value)
}

/** Returns a key for records without an id: equal values make the same record. */
export function contentKey(row: Readonly<Record<string, unknown>>, ...fields: string[]): string {
  const names = fields.length > 0 ? fields : Object.keys(row).sort()
  return hashText(JSON.stringify(names.map((name) => [name, ownValue(row, name) ?? null])))
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
