import { NumberText } from './lossless-json.ts'

/** Texts of this length are written as JSON to count what has to be escaped in them. */
const LONG_TEXT = 65_536

/**
 * Whether a value takes more characters than this as JSON for certain; escapes in short texts and digits of numbers are not
 * counted. Looks no further once it is known, and writes nothing: most values are small.
 */
export function isLargerJson(value: unknown, max: number): boolean {
  return lengthUpTo(value, max) > max
}

function lengthUpTo(value: unknown, max: number): number {
  if (typeof value === 'string')
    return value.length < LONG_TEXT || value.length > max ? value.length + 2 : JSON.stringify(value).length
  if (typeof value !== 'object' || value === null) return 1
  if (value instanceof NumberText) return value.source.length
  let length = 1
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && length <= max; at++)
      length += 1 + lengthUpTo(value[at], max - length)
    return length
  }
  for (const key in value) {
    if (length > max) break
    length += key.length + 4 + lengthUpTo((value as Record<string, unknown>)[key], max - length)
  }
  return length
}
