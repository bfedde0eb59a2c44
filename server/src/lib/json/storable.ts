import { isLongerThan, NumberText } from './lossless-json.ts'

/** Receives the text of a warning for each change that was needed. */
export type Note = (message: string) => void

const MAX_DIGITS = 1000

/**
 * Converts a JSON value to one that PostgreSQL can store: NUL characters and unpaired surrogates become
 * U+FFFD, absurdly long numbers become texts (D28).
 */
export function makeStorable(value: unknown, note: Note): unknown {
  if (typeof value === 'string') return makeStorableText(value, note)
  if (value instanceof NumberText) {
    if (!isLongerThan(value.source, MAX_DIGITS)) return value
    note('a number too long to be stored inside a structure was kept as text')
    return value.source
  }
  if (Array.isArray(value)) return value.map((item) => makeStorable(item, note))
  if (typeof value !== 'object' || value === null) return value
  // A null prototype keeps a key such as __proto__ an ordinary key.
  const copy: Record<string, unknown> = Object.create(null)
  for (const [key, item] of Object.entries(value))
    copy[makeStorableText(key, note)] = makeStorable(item, note)
  return copy
}

export function makeStorableText(text: string, note: Note): string {
  if (!text.includes('\0') && text.isWellFormed()) return text
  note('NUL characters and halves of surrogate pairs were replaced by U+FFFD')
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

/**
 * Matches the escapes that JSON may contain and jsonb may not: NUL and surrogates. JSON.stringify prints
 * paired surrogates as characters, so it does not escape them.
 */
const UNSTORABLE = /\\u(0000|d[89a-f])/i

/** Returns JSON that PostgreSQL certainly accepts. Most values need no second pass. */
export function toStorableJson(value: unknown): string {
  const text = JSON.stringify(value)
  return UNSTORABLE.test(text) ? JSON.stringify(makeStorable(value, () => undefined)) : text
}
