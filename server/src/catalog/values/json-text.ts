import { endOfString, skipBlanks } from '../../lib/json/json-scan.ts'
import { isObject } from '../../lib/json/object.ts'
import { readJson } from '../../lib/json/read-json.ts'
import type { Steps } from '../../lib/timing/turns.ts'
import { nameColumnsInSteps } from './output-names.ts'

export { isJson, MAX_READ_VALUES, readJson, type ReadJson } from '../../lib/json/read-json.ts'

/**
 * Returns the JSON in a model's answer: the whole text, the content of its code fence, or the part from the first bracket
 * to the last. A comma after the last item is removed.
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
    candidates.map(removeTrailingCommas).find((one) => readJson(one).ok) ??
    bracketed
  )
}

/** Removes the commas that only a closing bracket follows. */
function removeTrailingCommas(text: string): string {
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

/** Returns a list that is given as an array or as JSON text of some values, or null for any other value. */
export function readList(value: unknown): unknown[] | null {
  if (Array.isArray(value)) return value
  if (typeof value !== 'string') return null
  const parsed = readJson(value)
  return parsed.ok && Array.isArray(parsed.value) ? parsed.value : null
}

/** The number of items that are converted in one step. */
const ITEMS = 500

/**
 * Converts the items of a list to records whose keys can be columns. An item that is no object becomes a record with the
 * single column `value`.
 */
export function* toRecordsInSteps(list: unknown[]): Steps<Record<string, unknown>[]> {
  const named = yield* nameColumnsInSteps(list)
  const records: Record<string, unknown>[] = []
  for (const item of named) {
    records.push(isObject(item) ? item : { value: item })
    if (records.length % ITEMS === 0) yield
  }
  return records
}
