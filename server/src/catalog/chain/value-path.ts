import { MAX_NAME } from '#contract/text.ts'
import { isObject } from '../../lib/json/object.ts'
import { readJson } from '../../lib/json/read-json.ts'
import type { Token } from './references.ts'

/** Keys and places that lead into a JSON value (D75). */
export type Steps = readonly (string | number)[]
/** What a text names first, and where it goes on from there. */
export type ValuePath = { head: string; steps: Steps }

export type OutputToken = Extract<Token, { kind: 'output' | 'column' }>

/** What stands behind the action's id: an output, and perhaps a way into it. */
export function printPath(token: OutputToken): string {
  return token.kind === 'output' ? token.name : `${token.list}.${token.column}`
}

const NO_STEPS: Steps = []
const paths = new WeakMap<OutputToken, ValuePath>()

/** Tokens are shared by all rows, and so is the way that they describe. */
export function pathOf(token: OutputToken): ValuePath {
  if (token.kind === 'output' && !token.name.endsWith(']')) return { head: token.name, steps: NO_STEPS }
  const known = paths.get(token)
  if (known !== undefined) return known
  const text = printPath(token)
  const end = firstBreak(text)
  const steps = readSteps(text.slice(end))
  const path = steps === null ? wholeNames(token) : { head: text.slice(0, end).trimEnd(), steps }
  paths.set(token, path)
  return path
}

/** Names that are no path, such as a column `a..b`, can only be keys as they stand. */
function wholeNames(token: OutputToken): ValuePath {
  return token.kind === 'output'
    ? { head: token.name, steps: NO_STEPS }
    : { head: token.list, steps: [token.column] }
}

/** The longest name of an input, with room for blanks around it. */
const MAX_HEAD = MAX_NAME + 100

/**
 * The input that the text behind `input.` names, and the way into it. A name may hold dots and brackets itself: the
 * longest one that is an input wins.
 */
export function findInputPath(text: string, isInput: (name: string) => boolean): ValuePath | null {
  if (isInput(text)) return { head: text, steps: NO_STEPS }
  // No name is longer; a text of nothing but dots must not be looked at as often as it has dots.
  for (let end = lastBreak(text, Math.min(text.length, MAX_HEAD)); end > 0; end = lastBreak(text, end)) {
    const head = text.slice(0, end).trimEnd()
    if (!isInput(head)) continue
    const steps = readSteps(text.slice(end))
    if (steps !== null) return { head, steps }
  }
  return null
}

/** Enough for any value that a person looks into. */
const MAX_STEPS = 50

function readSteps(text: string): Steps | null {
  const steps: (string | number)[] = []
  for (let at = 0; at < text.length;) {
    const end = firstBreak(text, at + 1)
    const part = text.slice(at + 1, end).trim()
    const place = text[at] === '[' ? readPlace(part) : part
    if (place === null || place === '' || steps.length === MAX_STEPS) return null
    steps.push(place)
    at = end
  }
  return steps
}

const PLACE = /^(\d{1,9})\s*\]$/

function readPlace(part: string): number | null {
  const digits = PLACE.exec(part)?.[1]
  return digits === undefined ? null : Number(digits)
}

function firstBreak(text: string, from = 0): number {
  let at = from
  while (at < text.length && text[at] !== '.' && text[at] !== '[') at += 1
  return at
}

function lastBreak(text: string, before: number): number {
  let at = before - 1
  while (at >= 0 && text[at] !== '.' && text[at] !== '[') at -= 1
  return at
}

/** What text holds as JSON; undefined when it is none. */
export type OpenText = (text: string) => unknown

export function openText(text: string): unknown {
  const read = /^\s*[[{]/.test(text) ? readJson(text) : undefined
  return read?.ok ? read.value : undefined
}

/**
 * What a value holds at the end of a path; undefined where it leads nowhere. A key of a list is that key of each of its
 * items. Only a value's own keys count. Text that is JSON is opened.
 */
export function readPath(value: unknown, steps: Steps, open: OpenText = openText): unknown {
  let reached = steps.length > 0 && typeof value === 'string' ? open(value) : value
  for (const step of steps)
    reached = typeof step === 'number' ? itemOf(reached, step) : readKey(reached, step)
  return reached
}

/** What a token names in the value of its output. A key of the very name of a column comes before a path. */
export function readOutput(value: unknown, token: OutputToken, open: OpenText = openText): unknown {
  const { steps } = pathOf(token)
  if (token.kind === 'output' || steps.length < 2 || typeof steps[0] === 'number')
    return readPath(value, steps, open)
  return readColumn(typeof value === 'string' ? open(value) : value, token.column, steps)
}

function readColumn(value: unknown, column: string, steps: Steps): unknown {
  const list = Array.isArray(value) && value.some((item) => ownValue(item, column) !== undefined)
  return list ? readKey(value, column) : readItem(value, column, steps)
}

/** The value of a column in one item of its list. */
export function readItem(item: unknown, column: string, steps = readSteps(`.${column}`)): unknown {
  const own = ownValue(item, column)
  return own === undefined && steps !== null && steps.length > 1 ? readPath(item, steps, nothing) : own
}

/** Text inside of a value is a text. */
const nothing: OpenText = () => undefined

function readKey(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => ownValue(item, key) ?? null)
  return ownValue(value, key)
}

function ownValue(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

function itemOf(value: unknown, place: number): unknown {
  return Array.isArray(value) ? value[place] : undefined
}
