import { NumberText, parseLossless } from './lossless-json.ts'

export type ReadJson = { ok: true; value: unknown } | { ok: false }

/** Whoever walks a value later must not run out of stack. */
const MAX_LEVELS = 100

/** JSON in a text, with long numbers as they were written. Nested too deep is not JSON to us. */
export function readJson(text: string): ReadJson {
  try {
    const value = parseLossless(text)
    return isShallow(value) ? { ok: true, value } : { ok: false }
  } catch (cause) {
    // A range error is the stack, ended by a text that is nothing but brackets.
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
