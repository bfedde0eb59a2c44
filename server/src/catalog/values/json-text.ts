import { isObject } from '../../lib/json/object.ts'
import { readJson } from '../../lib/json/read-json.ts'

export { readJson, type ReadJson } from '../../lib/json/read-json.ts'

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
