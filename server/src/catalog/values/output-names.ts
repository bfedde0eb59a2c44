import { isObject, setOwn } from '../../lib/json/object.ts'
import { atOnce, type Steps } from '../../lib/timing/turns.ts'

/** The number of keys that are named in one step. */
const KEYS = 500
/** The length of the part of a key that is made a name. */
const LONGEST = 1000
const IS_SNAKE_CASE = /^[a-z0-9]+(_[a-z0-9]+)*$/

/** Converts a key to the snake_case name of an output: `First Name` and `firstName` both become first_name. */
export function snakeCase(key: string): string {
  // Most keys are snake_case already, and the four replacements take longer than the rest of the work on a reply.
  if (IS_SNAKE_CASE.test(key)) return key
  const name = key
    .slice(0, LONGEST)
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
  return atOnce(nameOutputsInSteps(source, taken))
}

export function* nameOutputsInSteps(
  source: Record<string, unknown>,
  taken: readonly string[] = [],
): Steps<Record<string, unknown>> {
  const keys = Object.keys(source)
  // In most replies no name changes.
  if (keys.every((key) => IS_SNAKE_CASE.test(key) && !taken.includes(key) && !Array.isArray(source[key])))
    return source
  const names = yield* chooseNames(keys, snakeCase, taken)
  const named: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(source))
    setOwn(named, names.get(key) ?? key, Array.isArray(value) ? yield* nameColumnsInSteps(value) : value)
  return named
}

/** Renames the keys of a list's items so that all can be columns of a token. Most lists are returned unchanged. */
export function nameColumns(list: unknown[]): unknown[] {
  return atOnce(nameColumnsInSteps(list))
}

export function* nameColumnsInSteps(list: unknown[]): Steps<unknown[]> {
  const keys = new Set<string>()
  let count = 0
  for (const item of list) {
    for (const key of isObject(item) ? Object.keys(item) : []) {
      keys.add(key)
      if ((count += 1) % KEYS === 0) yield
    }
    if ((count += 1) % KEYS === 0) yield
  }
  let isUnchanged = true
  for (const key of keys) {
    isUnchanged &&= fitsToken(key)
    if ((count += 1) % KEYS === 0) yield
  }
  if (isUnchanged) return list
  const names = yield* chooseNames([...keys], (key) => (fitsToken(key) ? key : snakeCase(key)))
  const named: unknown[] = []
  for (const item of list) {
    if ((count += 1) % KEYS === 0) yield
    if (!isObject(item)) {
      named.push(item)
      continue
    }
    const copy = {}
    for (const [key, part] of Object.entries(item)) {
      setOwn(copy, names.get(key) ?? key, part)
      if ((count += 1) % KEYS === 0) yield
    }
    named.push(copy)
  }
  return named
}

/** Chooses one name for each key. A name that is taken gets `_2`, `_3` and so on. */
function* chooseNames(
  keys: string[],
  change: (key: string) => string,
  taken: readonly string[] = [],
): Steps<Map<string, string>> {
  const used = new Set(taken)
  const names = new Map<string, string>()
  /** The next number to try for each name that is taken. Trying all of them again takes quadratic time. */
  const numbers = new Map<string, number>()
  const claim = (key: string, wanted: string) => {
    let name = wanted
    let n = numbers.get(wanted) ?? 2
    for (; used.has(name); n += 1) name = `${wanted}_${n}`
    numbers.set(wanted, n)
    used.add(name)
    names.set(key, name)
  }
  const others: [key: string, wanted: string][] = []
  let count = 0
  for (const key of keys) {
    const wanted = change(key)
    if (wanted === key) claim(key, key)
    else others.push([key, wanted])
    if ((count += 1) % KEYS === 0) yield
  }
  for (const [key, wanted] of others) {
    claim(key, wanted)
    if ((count += 1) % KEYS === 0) yield
  }
  return names
}
