import { MAX_NAME } from '#contract/text.ts'
import { isObject } from '../../lib/json/object.ts'
import { readJson } from '../../lib/json/read-json.ts'
import type { Token } from './references.ts'

/** The keys and indexes of a path into a JSON value (D75). */
export type Steps = readonly (string | number)[]
/** The first name in a text, and the path from there. */
export type ValuePath = { head: string; steps: Steps }

export type OutputToken = Extract<Token, { kind: 'output' | 'column' }>

/** Returns the part of a token after the action's id: an output, and perhaps a path into it. */
export function printPath(token: OutputToken): string {
  return token.kind === 'output' ? token.name : `${token.list}.${token.column}`
}

const NO_STEPS: Steps = []
const paths = new WeakMap<OutputToken, ValuePath>()

/** Returns the path of a token. All rows share their tokens, so the path is cached with the token. */
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

/** Returns names that form no path, such as a column `a..b`, unchanged as keys. */
function wholeNames(token: OutputToken): ValuePath {
  return token.kind === 'output'
    ? { head: token.name, steps: NO_STEPS }
    : { head: token.list, steps: [token.column] }
}

/** The length of the longest name of an input, with room for blanks around it. */
const MAX_HEAD = MAX_NAME + 100

/**
 * Finds the input that a text after `input.` names, and the path into it. A name may itself contain dots and brackets:
 * the longest name of an input wins.
 */
export function findInputPath(text: string, isInput: (name: string) => boolean): ValuePath | null {
  if (isInput(text)) return { head: text, steps: NO_STEPS }
  // The search starts at the longest possible name: otherwise a text of only dots would be searched once for each dot.
  for (let end = lastBreak(text, Math.min(text.length, MAX_HEAD)); end > 0; end = lastBreak(text, end)) {
    const head = text.slice(0, end).trimEnd()
    if (!isInput(head)) continue
    const steps = readSteps(text.slice(end))
    if (steps !== null) return { head, steps }
  }
  return null
}

/** The most steps of a path. It is enough for any value that a person reads. */
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

/** Returns the JSON value in a text, or undefined if the text is not JSON. */
export type OpenText = (text: string) => unknown

export function openText(text: string): unknown {
  const read = /^\s*[[{]/.test(text) ? readJson(text) : undefined
  return read?.ok ? read.value : undefined
}

/**
 * Returns the value at the end of a path, or undefined if the path leads nowhere. A key applied to a list reads that key
 * of each item. Only own keys count. A text that is JSON is opened.
 */
export function readPath(value: unknown, steps: Steps, open: OpenText = openText): unknown {
  let reached = steps.length > 0 && typeof value === 'string' ? open(value) : value
  for (const step of steps)
    reached = typeof step === 'number' ? readIndex(reached, step) : readKey(reached, step)
  return reached
}

/**
 * Returns the value of a token in the value of its output. A key with exactly the name of a column takes precedence over
 * a path.
 */
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

/** Returns the value of a column in one item of a list. */
export function readItem(item: unknown, column: string, steps = readSteps(`.${column}`)): unknown {
  const own = ownValue(item, column)
  return own === undefined && steps !== null && steps.length > 1 ? readPath(item, steps, nothing) : own
}

/** Opens no text: a text inside a value stays a text. */
const nothing: OpenText = () => undefined

function readKey(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => ownValue(item, key) ?? null)
  return ownValue(value, key)
}

function ownValue(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

function readIndex(value: unknown, place: number): unknown {
  return Array.isArray(value) ? value[place] : undefined
}
