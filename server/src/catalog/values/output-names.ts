import { isObject } from '../../lib/json/object.ts'

const IS_SNAKE_CASE = /^[a-z0-9]+(_[a-z0-9]+)*$/

/** A key as the snake_case name of an output: `First Name` and `firstName` are both first_name. */
export function snakeCase(key: string): string {
  // Most keys of most replies: four replacements take longer than all else that becomes of a reply.
  if (IS_SNAKE_CASE.test(key)) return key
  const name = key
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1_$2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1_$2')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '')
  return name === '' ? 'field' : name
}

/** Whether a name can be read back from the last part of a token: no braces, no control characters, no outer blanks. */
export function fitsToken(name: string): boolean {
  return name !== '' && name === name.trim() && !/[{}]|\p{Cc}/u.test(name)
}

/** The entries of an object under snake_case names. Keys that are such names already keep them, whatever their order. */
export function nameOutputs(
  source: Record<string, unknown>,
  taken: readonly string[] = [],
): Record<string, unknown> {
  const keys = Object.keys(source)
  // Nothing of most replies is called otherwise.
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

/** A list whose items' keys can all stand in a token as columns; most lists are handed back as they are. */
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

/** One name for each key, `_2` and so on behind those that are taken. */
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
