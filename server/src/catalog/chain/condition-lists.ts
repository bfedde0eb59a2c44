import { compareDecimals, type Decimal, parseDecimal } from '#contract/decimal.ts'
import { NumberText } from '../../lib/json/lossless-json.ts'
import { isObject } from '../../lib/json/object.ts'
import { trimEnd } from '../../lib/plain-text.ts'
import { textOf } from './references.ts'

/** The keys of lists that are searched again: with them, many conditions on one list take no longer than a few. */
const indexes = new WeakMap<readonly unknown[], ReadonlySet<string> | 'searched once'>()

/**
 * Returns true if an element of the list, or a field of an element, equals the lower-case text: as a text in any case,
 * or as a number.
 */
export function listHas(list: readonly unknown[], wanted: string): boolean {
  const index = indexes.get(list)
  if (index === undefined) {
    indexes.set(list, 'searched once')
    return searchOnce(list, wanted)
  }
  if (index !== 'searched once') return index.has(keyOf(wanted))
  const keys = new Set<string>()
  for (const value of valuesIn(list)) keys.add(keyOf(value))
  indexes.set(list, keys)
  return keys.has(keyOf(wanted))
}

/** Does the same without the keys. Few values are near the wanted number, and only their digits are compared. */
function searchOnce(list: readonly unknown[], wanted: string): boolean {
  const number = parseDecimal(wanted)
  const near = number === null ? Number.NaN : Number(wanted)
  for (const value of valuesIn(list)) {
    if (typeof value === 'number' && value !== near) continue
    const text = lowerText(value)
    if (text === wanted) return true
    if (number === null || Number(text) !== near) continue
    const found = parseDecimal(text)
    if (found !== null && compareDecimals(found, number) === 0) return true
  }
  return false
}

const lowerText = (value: unknown): string =>
  value instanceof NumberText ? value.source.toLowerCase() : textOf(value).toLowerCase()

function* valuesIn(list: readonly unknown[]): Generator {
  for (const element of list) {
    if (isObject(element)) yield* Object.values(element)
    else yield element
  }
}

/** The start of every decimal. Most texts are none and need no further look. */
const MAY_BE_DECIMAL = /^[-.\d]/
const INTEGER = /^-?[1-9]\d*$/

/** Returns the same key as `keyOfDecimal`, sooner. */
function keyOfInteger(text: string): string {
  const isNegative = text.startsWith('-')
  const length = text.length - (isNegative ? 1 : 0)
  if (length <= 15) return `i${text}`
  return `n${isNegative ? -1 : 1} ${length} ${trimEnd(isNegative ? text.slice(1) : text, '0')}`
}

/** Returns a key that two values share exactly if `is` holds between their texts in any case. */
function keyOf(value: unknown): string {
  if (typeof value === 'number' && Number.isSafeInteger(value) && Math.abs(value) < 1e15)
    return `i${value + 0}`
  const text = lowerText(value)
  if (!MAY_BE_DECIMAL.test(text)) return `t${text}`
  if (INTEGER.test(text)) return keyOfInteger(text)
  const decimal = parseDecimal(text)
  return decimal === null ? `t${text}` : keyOfDecimal(decimal)
}

function keyOfDecimal({ sign, magnitude, digits }: Decimal): string {
  const isShortInteger = digits.length <= magnitude && magnitude <= 15
  if (sign === 0 || isShortInteger) return `i${sign < 0 ? '-' : ''}${digits.padEnd(magnitude, '0') || '0'}`
  return `n${sign} ${magnitude} ${digits}`
}
