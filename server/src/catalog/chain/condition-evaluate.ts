import { isObject } from '../../lib/json/object.ts'
import { hasText } from '../../lib/search.ts'
import { type TypeOf, typeOfVariable } from './condition-check.ts'
import { kindOf, type Operator } from './condition-operators.ts'
import type { ConditionGroup } from './condition-shape.ts'
import { compareDecimals, parseDecimal } from './decimal.ts'
import { parseInstant } from './instant.ts'
import { textOf } from './references.ts'

export type Resolve = (text: string) => unknown

export type EvaluateOptions = {
  /** For values, where they are read otherwise than variables: fields of a segment, columns of another sheet. */
  resolveValue?: Resolve
  /** Without it, or while a type is unknown, the value itself decides: strings are text, arrays are lists. */
  typeOf?: TypeOf
}

/** `elements` only where the variable is a list. */
type Subject = { value: unknown; text: string; elements: unknown[] | null }
type Test = (subject: Subject, values: string[]) => boolean
type Step<Truth> = { combinator?: 'AND' | 'OR' | undefined; holds: Truth }

/**
 * Whether the conditions hold; no conditions hold always. Every variable and value is resolved, also where the
 * outcome is already clear, so that `resolve` sees each token that names nothing (D33).
 */
export function evaluate(groups: ConditionGroup[], resolve: Resolve, options: EvaluateOptions = {}): boolean {
  const { resolveValue = resolve, typeOf = () => undefined } = options
  const testLeaves = (group: ConditionGroup): Step<boolean>[] =>
    group.conditions.map(({ variable, operator, values = [], combinator }) => {
      const subject = readSubject(resolve(variable), typeOfVariable(variable, typeOf))
      const texts = values.map((value) => textOf(resolveValue(value)))
      return { combinator, holds: TESTS[operator](subject, texts) }
    })
  return foldSteps(
    groups.map((group) => ({ combinator: group.combinator, holds: foldSteps(testLeaves(group), BOOLEAN) })),
    BOOLEAN,
  )
}

/** Whether one condition holds of a value, which itself says whether it is text or a list. */
export function testValue(operator: Operator, value: unknown, values: string[]): boolean {
  return TESTS[operator](readSubject(value, undefined), values)
}

const TESTS: Record<Operator, Test> = {
  is: ({ text }, [value = '']) => isSame(text, value),
  'is not': ({ text }, [value = '']) => !isSame(text, value),
  'is empty': ({ value }) => isEmpty(value),
  'is not empty': ({ value }) => !isEmpty(value),
  contains,
  'does not contain': (subject, values) => !contains(subject, values),
  'starts with': ({ text }, [value = '']) => lower(text).startsWith(lower(value)),
  'does not start with': ({ text }, [value = '']) => !lower(text).startsWith(lower(value)),
  'ends with': ({ text }, [value = '']) => lower(text).endsWith(lower(value)),
  'does not end with': ({ text }, [value = '']) => !lower(text).endsWith(lower(value)),
  'greater than': ordered(compareNumbers, (order) => order > 0),
  'less than': ordered(compareNumbers, (order) => order < 0),
  'greater than or equal to': ordered(compareNumbers, (order) => order >= 0),
  'less than or equal to': ordered(compareNumbers, (order) => order <= 0),
  'is after': ordered(compareDates, (order) => order > 0),
  'is before': ordered(compareDates, (order) => order < 0),
  // No text is both a number and a date, so the values themselves tell which of the two is meant.
  'is between': (subject, values) =>
    isBetween(compareNumbers, subject, values) || isBetween(compareDates, subject, values),
}

export type Logic<Truth> = {
  none: Truth
  and: (a: Truth, b: Truth) => Truth
  or: (a: Truth, b: Truth) => Truth
}

export const BOOLEAN: Logic<boolean> = { none: true, and: (a, b) => a && b, or: (a, b) => a || b }

/** Left to right with no precedence (D34); the first combinator counts for nothing. */
export function foldSteps<Truth>([first, ...rest]: Step<Truth>[], { none, and, or }: Logic<Truth>): Truth {
  return rest.reduce(
    (held, { combinator, holds }) => (combinator === 'OR' ? or(held, holds) : and(held, holds)),
    first === undefined ? none : first.holds,
  )
}

/** A list may have arrived as its JSON text, in a column of a CSV for one. */
function readSubject(raw: unknown, type: string | undefined): Subject {
  const kind = kindOf(type)
  const value = kind === 'list' && typeof raw === 'string' ? parseContainer(raw) : raw
  return { value, text: textOf(raw), elements: Array.isArray(value) && kind !== 'text' ? value : null }
}

function parseContainer(text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null ? parsed : text
  } catch {
    return text
  }
}

/** Exact strings, numerically when both are numbers (D34); arrays and objects are their JSON text. */
function isSame(text: string, value: string): boolean {
  return text === value || compareNumbers(text, value) === 0
}

/** Blanks are content: only null, the empty string, `[]` and `{}` are empty. */
function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

/** In a list, an element that is the value whatever its case, or an object with a field that is (D96); otherwise a part of the text. */
function contains({ elements, text }: Subject, [value = '']: string[]): boolean {
  if (!elements) return hasText(lower(text), lower(value))
  const wanted = lower(value)
  const isWanted = (element: unknown) => isSame(lower(textOf(element)), wanted)
  return elements.some((element) =>
    isObject(element) ? Object.values(element).some(isWanted) : isWanted(element),
  )
}

function lower(text: string): string {
  return text.toLowerCase()
}

type Compare = (a: string, b: string) => number | null

/** Null, which passes no test, when either is not a number. */
function compareNumbers(a: string, b: string): number | null {
  const left = parseDecimal(a)
  const right = parseDecimal(b)
  return left && right && compareDecimals(left, right)
}

function compareDates(a: string, b: string): number | null {
  const left = parseInstant(a)
  const right = parseInstant(b)
  return left === null || right === null ? null : left - right
}

function ordered(compare: Compare, accepts: (order: number) => boolean): Test {
  return ({ text }, [value = '']) => {
    const order = compare(text, value)
    return order !== null && accepts(order)
  }
}

function isBetween(compare: Compare, { text }: Subject, [low = '', high = '']: string[]): boolean {
  const fromLow = compare(text, low)
  const toHigh = compare(text, high)
  return fromLow !== null && toHigh !== null && fromLow >= 0 && toHigh <= 0
}
