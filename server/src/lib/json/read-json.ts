import { NumberText, parseLossless } from './lossless-json.ts'

export type ReadJson = { ok: true; value: unknown } | { ok: false }

/** The nesting limit, so that code that walks a value later does not run out of stack. */
const MAX_LEVELS = 100

/**
 * Parses JSON in a text and keeps long numbers as they were written. JSON that is nested too deep is
 * rejected.
 */
export function readJson(text: string): ReadJson {
  try {
    const value = parseLossless(text)
    return isShallow(value) ? { ok: true, value } : { ok: false }
  } catch (cause) {
    // A RangeError is a stack overflow, caused by a text that consists only of brackets.
    if (cause instanceof SyntaxError || cause instanceof RangeError) return { ok: false }
    throw cause
  }
}

function isShallow(value: unknown): boolean {
  let level = [value].filter(isContainer)
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > MAX_LEVELS) return false
    level = level.flatMap((container) => Object.values(container).filter(isContainer))
  }
  return true
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof NumberText)
}
