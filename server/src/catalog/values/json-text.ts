import { NumberText, parseLossless } from '../../lib/json/lossless-json.ts'
import { isObject } from '../../lib/json/object.ts'

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

/** The JSON in what somebody said: all of it, what stands in its code fence, or from the first bracket to the last. */
export function findJsonText(text: string): string {
  const whole = text.trim()
  if (readJson(whole).ok) return whole
  const fenced = /```[\w-]*[ \t]*\n([\s\S]*?)```/.exec(whole)?.[1]
  if (fenced !== undefined && readJson(fenced).ok) return fenced
  const from = whole.search(/[[{]/)
  const to = Math.max(whole.lastIndexOf(']'), whole.lastIndexOf('}'))
  return from >= 0 && to > from ? whole.slice(from, to + 1) : whole
}

/** A list, given as such or as the JSON text of one; null for anything else. */
export function readList(value: unknown): unknown[] | null {
  if (Array.isArray(value)) return value
  if (typeof value !== 'string') return null
  const parsed = readJson(value)
  return parsed.ok && Array.isArray(parsed.value) ? parsed.value : null
}

/** The items of a list as records: what is none becomes one with the single column `value`. */
export function toRecords(list: unknown[]): Record<string, unknown>[] {
  return list.map((item) => (isObject(item) ? item : { value: item }))
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
