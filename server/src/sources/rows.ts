import { createHash } from 'node:crypto'
import { z } from 'zod'
import { textOf } from '../catalog/chain/references.ts'
import { NumberText } from '../lib/json/lossless-json.ts'
import { ownValue } from '../lib/own-value.ts'

/** Text that a provider shows whole: `J***` and `a•••@acme.com` are not imported. */
export const unmasked = z
  .string()
  .refine((text) => !/\*{2,}|[•●█]{2,}|\*@|@\*/.test(text), { error: 'is masked' })

const MAX_KEY = 200

/** The stored form of a record's key. Long ones, and those that PostgreSQL cannot hold, are hashed. */
export function printKey(key: string | number): string {
  const text = String(key)
  const isPlain = text !== '' && text.length <= MAX_KEY && text.isWellFormed() && !text.includes('\0')
  return isPlain ? text : hashOf(text)
}

/** Numbers of fewer characters differ as doubles wherever they differ. */
const LONG_NUMBER = 16

/** A value that tells a record, as text. 5.0 is the same key as 5; of a long number every digit counts (D49). */
export function keyText(value: unknown): string {
  const isShort = value instanceof NumberText && value.source.length < LONG_NUMBER
  return textOf(isShort ? Number(value.source) : value)
}

/** A key for records that have none of their own: the same values are the same record. */
export function contentKey(row: Readonly<Record<string, unknown>>, ...fields: string[]): string {
  const names = fields.length > 0 ? fields : Object.keys(row).sort()
  return hashOf(JSON.stringify(names.map((name) => [name, ownValue(row, name) ?? null])))
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
