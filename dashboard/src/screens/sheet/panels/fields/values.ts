import { isRecord } from '../../tokens.ts'

/** A row of a list of names and values. `rest` holds what else the API was given. */
export type Pair = { name: string; value: string; rest: Record<string, unknown> }

/** Returns a value as text, or null if a text field would change it. */
export function readText(value: unknown): string | null {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : null
}

/** Returns names and values as rows, or null if a form cannot show them. */
export function readPairs(value: unknown): Pair[] | null {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) return null
  const pairs = value.flatMap((item: unknown): Pair[] => {
    if (!isRecord(item)) return []
    const { name, value, ...rest } = item
    return typeof name === 'string' && typeof value === 'string' ? [{ name, value, rest }] : []
  })
  return pairs.length === value.length ? pairs : null
}

export const printPairs = (pairs: readonly Pair[]): unknown[] =>
  pairs.map(({ name, value, rest }) => ({ ...rest, name, value }))

/** Returns the pair with another name. A label that only repeats the name follows it. */
export function renamePair({ name, value, rest }: Pair, next: string): Pair {
  const { label, ...others } = rest
  return { name: next, value, rest: label === name ? others : rest }
}

/** Returns a list of texts, or null if it holds anything else. */
export function readTexts(value: unknown): string[] | null {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) return null
  const texts = value.filter((item): item is string => typeof item === 'string')
  return texts.length === value.length ? texts : null
}

/** Returns true or false, or null for any other value. */
export function readFlag(value: unknown): boolean | null {
  if (value === undefined || value === null) return false
  return typeof value === 'boolean' ? value : null
}

/** Returns a value as JSON text. */
export const printJson = (value: unknown): string =>
  value === undefined || value === null ? '' : JSON.stringify(value, null, 2)

export type ReadJson = { ok: true; value: unknown } | { ok: false; fault: string }

/** Reads JSON. An empty text means no value. */
export function readJson(text: string): ReadJson {
  if (text.trim() === '') return { ok: true, value: null }
  try {
    return { ok: true, value: JSON.parse(text) as unknown }
  } catch {
    return { ok: false, fault: faultOfJson(text) }
  }
}

/** Returns where JSON ends to be readable, in words. */
function faultOfJson(text: string): string {
  const open: string[] = []
  const unquoted = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '')
  for (const character of unquoted) {
    if ('{['.includes(character)) open.push(character)
    else if ('}]'.includes(character)) open.pop()
  }
  if (unquoted.includes('"')) return 'This is not JSON: a text has no closing quote'
  if (open.length > 0) return `This is not JSON: ${open.at(-1)} is never closed`
  return 'This is not JSON'
}
