import { compareDecimals, parseDecimal } from '#contract/decimal.ts'
import { parseInstant } from '#contract/instant.ts'
import { hasText } from '../../lib/search.ts'
import { type TypeOf, typeOfVariable } from './condition-check.ts'
import { listHas } from './condition-lists.ts'
import { kindOf, type Operator } from './condition-operators.ts'
import type { ConditionGroup } from './condition-shape.ts'
import { textOf } from './references.ts'

export type Resolve = (text: string) => unknown

export type EvaluateOptions = {
  /**
   * Resolves the values, if they are read in another way than variables: fields of a segment, columns of another sheet.
   */
  resolveValue?: Resolve
  /**
   * Returns the type of a token. If it is missing, or the type is unknown, the value itself decides: strings are text,
   * arrays are lists.
   */
  typeOf?: TypeOf
}

/** The value of a variable. `elements` is null unless it is a list. A text is made when it is first asked for. */
type Subject = { value: unknown; readonly text: string; elements: readonly unknown[] | null }
type Test = (subject: Subject, values: string[]) => boolean
type Step<Truth> = { combinator?: 'AND' | 'OR' | undefined; holds: Truth }

/**
 * Returns true if the conditions hold. An empty list always holds. Every variable and value is resolved, even when the
 * result is already clear, so that `resolve` sees each unknown token (D33).
 */
export function evaluate(groups: ConditionGroup[], resolve: Resolve, options: EvaluateOptions = {}): boolean {
  const { resolveValue = resolve, typeOf = () => undefined } = options
  // The texts of lists, which several conditions may ask for. Printing a list of megabytes takes long.
  const printed = new Map<unknown, string>()
  const testLeaves = (group: ConditionGroup): Step<boolean>[] =>
    group.conditions.map(({ variable, operator, values = [], combinator }) => {
      const subject = readSubject(resolve(variable), typeOfVariable(variable, typeOf), printed)
      const texts = values.map((value) => textOf(resolveValue(value)))
      return { combinator, holds: TESTS[operator](subject, texts) }
    })
  return foldSteps(
    groups.map((group) => ({ combinator: group.combinator, holds: foldSteps(testLeaves(group), BOOLEAN) })),
    BOOLEAN,
  )
}

/** Returns true if one condition holds for a value. The value itself decides if it is text or a list. */
export function testValue(operator: Operator, value: unknown, values: string[]): boolean {
  return TESTS[operator](readSubject(value, undefined, new Map()), values)
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
  // No text is both a number and a date, so the values themselves show which of the two is meant.
  'is between': (subject, values) =>
    isBetween(compareNumbers, subject, values) || isBetween(compareDates, subject, values),
}

export type Logic<Truth> = {
  none: Truth
  and: (a: Truth, b: Truth) => Truth
  or: (a: Truth, b: Truth) => Truth
}

export const BOOLEAN: Logic<boolean> = { none: true, and: (a, b) => a && b, or: (a, b) => a || b }

/** Combines the steps from left to right, without precedence (D34). The combinator of the first step is ignored. */
export function foldSteps<Truth>([first, ...rest]: Step<Truth>[], { none, and, or }: Logic<Truth>): Truth {
  return rest.reduce(
    (held, { combinator, holds }) => (combinator === 'OR' ? or(held, holds) : and(held, holds)),
    first === undefined ? none : first.holds,
  )
}

/** Reads the value of a variable. A list may be stored as its JSON text, for example in a CSV column. */
function readSubject(raw: unknown, type: string | undefined, printed: Map<unknown, string>): Subject {
  const kind = kindOf(type)
  const value = kind === 'list' && typeof raw === 'string' ? parseContainer(raw) : raw
  return {
    value,
    elements: Array.isArray(value) && kind !== 'text' ? value : null,
    get text() {
      if (typeof raw !== 'object') return textOf(raw)
      const text = printed.get(raw) ?? textOf(raw)
      printed.set(raw, text)
      return text
    },
  }
}

function parseContainer(text: string): unknown {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null ? parsed : text
  } catch {
    return text
  }
}

/**
 * Compares exact strings, or numbers if both texts are numbers (D34). Arrays and objects are compared as their JSON text.
 */
function isSame(text: string, value: string): boolean {
  return text === value || compareNumbers(text, value) === 0
}

/** Returns true for null, undefined, the empty string, `[]` and `{}`. Blanks are content. */
function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  return typeof value === 'object' && Object.keys(value).length === 0
}

/**
 * Searches a list for an element that equals the value in any case, or for an object with a field that does (D96).
 * Searches anything else for a part of its text.
 */
function contains(subject: Subject, [value = '']: string[]): boolean {
  const wanted = lower(value)
  return subject.elements === null ? hasText(lower(subject.text), wanted) : listHas(subject.elements, wanted)
}

function lower(text: string): string {
  return text.toLowerCase()
}

type Compare = (a: string, b: string) => number | null

/** Compares two numbers. Returns null, which passes no test, if either text is not a number. */
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
