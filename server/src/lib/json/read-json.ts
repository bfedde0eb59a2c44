import { measureJson } from './json-scan.ts'
import { parseLossless } from './lossless-json.ts'

export type ReadJson = { ok: true; value: unknown } | { ok: false }

/** The nesting limit, so that code that walks a value later does not run out of stack. */
const MAX_LEVELS = 100
/** The limit on the number of values, because the text is parsed at once: a million of them take a second. */
export const MAX_READ_VALUES = 50_000

/**
 * Parses JSON in a text and keeps long numbers as they were written. JSON that is nested too deep, or has too
 * many values, is rejected.
 */
export function readJson(text: string): ReadJson {
  const { deepest, values } = measureJson(text)
  if (deepest > MAX_LEVELS || values > MAX_READ_VALUES) return { ok: false }
  try {
    return { ok: true, value: parseLossless(text) }
  } catch (cause) {
    if (cause instanceof SyntaxError) return { ok: false }
    throw cause
  }
}

/** Returns true if a text of any length is JSON that is not nested too deep. */
export function isJson(text: string): boolean {
  if (measureJson(text).deepest > MAX_LEVELS) return false
  try {
    JSON.parse(text)
    return true
  } catch (cause) {
    if (cause instanceof SyntaxError) return false
    throw cause
  }
}
