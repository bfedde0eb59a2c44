import { isLongerThan, NumberText } from './lossless-json.ts'

/** Told of each change that was needed, in words for a warning. */
export type Note = (message: string) => void

const MAX_DIGITS = 1000

/** JSON as PostgreSQL can hold it: NUL and halves of surrogate pairs become U+FFFD, absurd numbers their text (D28). */
export function makeStorable(value: unknown, note: Note): unknown {
  if (typeof value === 'string') return makeStorableText(value, note)
  if (value instanceof NumberText) {
    if (!isLongerThan(value.source, MAX_DIGITS)) return value
    note('a number too long to be stored inside a structure was kept as text')
    return value.source
  }
  if (Array.isArray(value)) return value.map((item) => makeStorable(item, note))
  if (typeof value !== 'object' || value === null) return value
  // A null prototype, so that a key such as __proto__ stays a key.
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

/** Escapes that JSON may hold and jsonb may not: NUL, surrogates. Paired surrogates are printed as they are, not escaped. */
const UNSTORABLE = /\\u(0000|d[89a-f])/i

/** JSON text that PostgreSQL takes for certain. Most values need no second look. */
export function toStorableJson(value: unknown): string {
  const text = JSON.stringify(value)
  return UNSTORABLE.test(text) ? JSON.stringify(makeStorable(value, () => undefined)) : text
}
