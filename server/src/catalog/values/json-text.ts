import { endOfString, skipBlanks } from '../../lib/json/json-scan.ts'
import { isObject } from '../../lib/json/object.ts'
import { readJson } from '../../lib/json/read-json.ts'

export { readJson, type ReadJson } from '../../lib/json/read-json.ts'

/**
 * The JSON in what somebody said: all of it, what stands in its code fence, or from the first bracket to the last. Commas behind
 * the last item are left out.
 */
export function findJsonText(text: string): string {
  const whole = text.trim()
  const fenced = /```[\w-]*[ \t]*\n([\s\S]*?)```/.exec(whole)?.[1]
  const from = whole.search(/[[{]/)
  const to = Math.max(whole.lastIndexOf(']'), whole.lastIndexOf('}'))
  const bracketed = from >= 0 && to > from ? whole.slice(from, to + 1) : whole
  const candidates = [...new Set([whole, fenced ?? bracketed, bracketed])]
  return (
    candidates.find((one) => readJson(one).ok) ??
    candidates.map(withoutLastCommas).find((one) => readJson(one).ok) ??
    bracketed
  )
}

/** Leaves out commas that only a closing bracket follows. */
function withoutLastCommas(text: string): string {
  let kept = ''
  let from = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') at = endOfString(text, at) - 1
    else if (text[at] === ',' && /[\]}]/.test(text[skipBlanks(text, at + 1)] ?? '')) {
      kept += text.slice(from, at)
      from = at + 1
    }
  }
  return kept + text.slice(from)
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
