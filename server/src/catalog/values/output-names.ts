import { isObject } from '../../lib/json/object.ts'

const IS_SNAKE_CASE = /^[a-z0-9]+(_[a-z0-9]+)*$/

/** Converts a key to the snake_case name of an output: `First Name` and `firstName` both become first_name. */
export function snakeCase(key: string): string {
  // Most keys are snake_case already, and the four replacements take longer than the rest of the work on a reply.
  if (IS_SNAKE_CASE.test(key)) return key
  const name = key
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1_$2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1_$2')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '')
  return name === '' ? 'field' : name
}

/** Returns true if a name can be the last part of a token: no braces, no control characters, no blanks at its ends. */
export function fitsToken(name: string): boolean {
  return name !== '' && name === name.trim() && !/[{}]|\p{Cc}/u.test(name)
}

/**
 * Returns the entries of an object under snake_case names. A key that is such a name keeps it, in whatever order the keys
 * come.
 */
export function nameOutputs(
  source: Record<string, unknown>,
  taken: readonly string[] = [],
): Record<string, unknown> {
  const keys = Object.keys(source)
  // In most replies no name changes.
  if (keys.every((key) => IS_SNAKE_CASE.test(key) && !taken.includes(key) && !Array.isArray(source[key])))
    return source
  const names = chooseNames(keys, snakeCase, taken)
  return Object.fromEntries(
    Object.entries(source).map(([key, value]) => [
      names.get(key),
      Array.isArray(value) ? nameColumns(value) : value,
    ]),
  )
}

/** Renames the keys of a list's items so that all can be columns of a token. Most lists are returned unchanged. */
export function nameColumns(list: unknown[]): unknown[] {
  const keys = new Set(list.flatMap((item) => (isObject(item) ? Object.keys(item) : [])))
  if ([...keys].every(fitsToken)) return list
  const names = chooseNames([...keys], (key) => (fitsToken(key) ? key : snakeCase(key)))
  return list.map((item) =>
    isObject(item)
      ? Object.fromEntries(Object.entries(item).map(([key, part]) => [names.get(key), part]))
      : item,
  )
}

/** Chooses one name for each key. A name that is taken gets `_2`, `_3` and so on. */
function chooseNames(
  keys: string[],
  change: (key: string) => string,
  taken: readonly string[] = [],
): Map<string, string> {
  const used = new Set(taken)
  const names = new Map<string, string>()
  const claim = (key: string, wanted: string) => {
    let name = wanted
    for (let n = 2; used.has(name); n += 1) name = `${wanted}_${n}`
    used.add(name)
    names.set(key, name)
  }
  const wanted = keys.map(change)
  for (const [n, key] of keys.entries()) if (wanted[n] === key) claim(key, key)
  for (const [n, key] of keys.entries()) if (wanted[n] !== key) claim(key, wanted[n] ?? key)
  return names
}
