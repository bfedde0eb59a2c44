import { compareDecimals, parseDecimal } from '#contract/decimal.ts'
import { parseInstant } from '#contract/instant.ts'
import { hasText } from '../../lib/search.ts'
import { type TypeOf, typeOfVariable } from './condition-check.ts'
import { type ListSearch, searchList } from './condition-lists.ts'
import { type Kind, kindOf, type Operator } from './condition-operators.ts'
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

/**
 * The value of a variable. `list` is null unless it is a list. Texts are made when they are first asked for: printing a list
 * of megabytes takes long.
 */
type Subject = { value: unknown; readonly text: string; readonly lower: string; list: ListSearch | null }
type Test = (subject: Subject, values: string[]) => boolean
type Step<Truth> = { combinator?: 'AND' | 'OR' | undefined; holds: Truth }

/**
 * Returns true if the conditions hold. An empty list always holds. Every variable and value is resolved, even when the
 * result is already clear, so that `resolve` sees each unknown token (D33).
 */
export function evaluate(groups: ConditionGroup[], resolve: Resolve, options: EvaluateOptions = {}): boolean {
  const { resolveValue = resolve, typeOf = () => undefined } = options
  const readOnce = createSubjects()
  const resolveLeaves = (group: ConditionGroup) =>
    group.conditions.map(({ variable, operator, values = [], combinator }) => {
      const subject = readOnce(resolve(variable), typeOfVariable(variable, typeOf))
      const texts = values.map((value) => textOf(resolveValue(value)))
      prepareSearch(operator, subject, texts)
      return { combinator, operator, subject, texts }
    })
  // Everything is resolved before the first test, so that a list is searched once for all conditions.
  const resolved = groups.map((group) => ({ combinator: group.combinator, leaves: resolveLeaves(group) }))
  const steps = resolved.map(({ combinator, leaves }): Step<boolean> => {
    const tested = leaves.map((leaf) => ({
      combinator: leaf.combinator,
      holds: TESTS[leaf.operator](leaf.subject, leaf.texts),
    }))
    return { combinator, holds: foldSteps(tested, BOOLEAN) }
  })
  return foldSteps(steps, BOOLEAN)
}

/** Returns true if one condition holds for a value. The value itself decides if it is text or a list. */
export function testValue(operator: Operator, value: unknown, values: string[]): boolean {
  const subject = readSubject(value, undefined)
  prepareSearch(operator, subject, values)
  return TESTS[operator](subject, values)
}

const TESTS: Record<Operator, Test> = {
  is: ({ text }, [value = '']) => isSame(text, value),
  'is not': ({ text }, [value = '']) => !isSame(text, value),
  'is empty': ({ value }) => isEmpty(value),
  'is not empty': ({ value }) => !isEmpty(value),
  contains,
  'does not contain': (subject, values) => !contains(subject, values),
  'starts with': (subject, [value = '']) => subject.lower.startsWith(lower(value)),
  'does not start with': (subject, [value = '']) => !subject.lower.startsWith(lower(value)),
  'ends with': (subject, [value = '']) => subject.lower.endsWith(lower(value)),
  'does not end with': (subject, [value = '']) => !subject.lower.endsWith(lower(value)),
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

/** Returns a function that reads each value once, however many conditions ask about it. */
function createSubjects(): (raw: unknown, type: string | undefined) => Subject {
  const known = new Map<Kind | undefined, Map<unknown, Subject>>()
  return (raw, type) => {
    const kind = kindOf(type)
    const ofKind = known.get(kind) ?? new Map<unknown, Subject>()
    const subject = ofKind.get(raw) ?? readSubject(raw, kind)
    known.set(kind, ofKind.set(raw, subject))
    return subject
  }
}

/** Reads the value of a variable. A list may be stored as its JSON text, for example in a CSV column. */
function readSubject(raw: unknown, kind: Kind | undefined): Subject {
  const value = kind === 'list' && typeof raw === 'string' ? parseContainer(raw) : raw
  let text: string | undefined
  let lowered: string | undefined
  return {
    value,
    list: Array.isArray(value) && kind !== 'text' ? searchList(value) : null,
    get text() {
      return (text ??= textOf(raw))
    },
    get lower() {
      return (lowered ??= lower(this.text))
    },
  }
}

/** Notes the text that a list will be searched for. */
function prepareSearch(operator: Operator, { list }: Subject, [value = '']: string[]): void {
  if (operator === 'contains' || operator === 'does not contain') list?.add(lower(value))
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
  return subject.list === null ? hasText(subject.lower, wanted) : subject.list.has(wanted)
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
