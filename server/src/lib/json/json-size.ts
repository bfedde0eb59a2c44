import { NumberText } from './lossless-json.ts'

/** Texts of at least this length are printed as JSON to count the characters that have to be escaped. */
const LONG_TEXT = 65_536

/**
 * Returns true if the JSON of a value is certainly longer than `max` characters. Escapes in short texts and
 * digits of numbers are not counted. Stops as soon as the answer is known and prints nothing, because most
 * values are small.
 */
export function isLargerJson(value: unknown, max: number): boolean {
  return jsonLengthUpTo(value, max) > max
}

/**
 * Returns the length of the JSON of a value, counted as above, or any length above `max` if it is longer.
 */
export function jsonLengthUpTo(value: unknown, max: number): number {
  if (typeof value === 'string')
    return value.length < LONG_TEXT || value.length > max ? value.length + 2 : JSON.stringify(value).length
  if (typeof value !== 'object' || value === null) return 1
  if (value instanceof NumberText) return value.source.length
  let length = 1
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && length <= max; at++)
      length += 1 + jsonLengthUpTo(value[at], max - length)
    return length
  }
  for (const key in value) {
    if (length > max) break
    length += key.length + 4 + jsonLengthUpTo((value as Record<string, unknown>)[key], max - length)
  }
  return length
}
