import { compareDecimals, type Decimal, parseDecimal } from '#contract/decimal.ts'
import { NumberText } from '../../lib/json/lossless-json.ts'
import { isObject } from '../../lib/json/object.ts'
import { hashDecimal } from './decimal-hash.ts'
import { textOf } from './references.ts'

/** The search in one list for the texts of all conditions that ask about it. */
export type ListSearch = {
  /** Adds a lower-case text before the first call of `has`. */
  add(wanted: string): void
  /**
   * Returns true if an element of the list, or a field of an element, equals the lower-case text: as a text in any case,
   * or as a number.
   */
  has(wanted: string): boolean
}

/** Creates a search. The list is walked once for all texts, when the first result is asked for. */
export function searchList(list: readonly unknown[]): ListSearch {
  const wanted = new Set<string>()
  let found: ReadonlySet<string> | undefined
  return {
    add: (text) => void wanted.add(text),
    has: (text) => (found ??= findTexts(list, wanted)).has(text),
  }
}

type WantedNumber = { text: string; decimal: Decimal }

/** The texts that are not found yet, in the forms in which values are compared with them. */
type Wanted = {
  texts: Set<string>
  shortest: number
  longest: number
  /** The doubles nearest to the wanted numbers. A value that is a double equals no other number. */
  doubles: Set<number>
  /** The wanted numbers by their hashes. Equal numbers have equal hashes. */
  numbers: Map<number, WantedNumber[]>
}

/** Returns those of the texts that stand in the list. */
function findTexts(list: readonly unknown[], texts: ReadonlySet<string>): Set<string> {
  const found = new Set<string>()
  const wanted = prepare(texts)
  for (const element of list) {
    if (isObject(element)) for (const value of Object.values(element)) match(value, wanted, found)
    else match(element, wanted, found)
    if (found.size === texts.size) break
  }
  return found
}

function prepare(texts: ReadonlySet<string>): Wanted {
  const lengths = [...texts].map((text) => text.length)
  const numbers = new Map<number, WantedNumber[]>()
  const doubles = new Set<number>()
  for (const text of texts) {
    const decimal = parseDecimal(text)
    const hash = hashDecimal(text)
    if (decimal === null || hash === undefined) continue
    doubles.add(Number(text))
    numbers.set(hash, [...(numbers.get(hash) ?? []), { text, decimal }])
  }
  const [shortest, longest] = [Math.min(...lengths), Math.max(...lengths)]
  return { texts: new Set(texts), shortest, longest, doubles, numbers }
}

function match(value: unknown, wanted: Wanted, found: Set<string>): void {
  if (typeof value === 'number' && !wanted.doubles.has(value)) return
  const text = value instanceof NumberText ? value.source : textOf(value)
  // A capital may become two letters in lower case, but no text becomes shorter.
  if (text.length <= wanted.longest && text.length * 2 >= wanted.shortest) {
    const lower = text.toLowerCase()
    if (wanted.texts.has(lower)) found.add(lower)
  }
  if (wanted.numbers.size === 0) return
  const hash = hashDecimal(text)
  const near = hash === undefined ? undefined : wanted.numbers.get(hash)
  if (near !== undefined) matchNumber(text, near, found)
}

function matchNumber(text: string, near: readonly WantedNumber[], found: Set<string>): void {
  const open = near.filter((one) => !found.has(one.text))
  const decimal = open.length === 0 ? null : parseDecimal(text)
  if (decimal === null) return
  for (const one of open) if (compareDecimals(one.decimal, decimal) === 0) found.add(one.text)
}
