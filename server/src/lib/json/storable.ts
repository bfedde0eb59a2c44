import type { Steps } from '../timing/turns.ts'
import { jsonLengthUpTo } from './json-size.ts'
import { isLongerThan, NumberText } from './lossless-json.ts'
import { setOwn } from './object.ts'

/** Receives the text of a warning for each change that was needed. */
export type Note = (message: string) => void

const MAX_DIGITS = 1000

/**
 * Converts a JSON value to one that PostgreSQL can store: NUL characters and unpaired surrogates become
 * U+FFFD, absurdly long numbers become texts (D28).
 */
export function makeStorable(value: unknown, note: Note): unknown {
  if (typeof value === 'string') return makeStorableText(value, note)
  if (value instanceof NumberText) {
    if (!isLongerThan(value.source, MAX_DIGITS)) return value
    note('a number too long to be stored inside a structure was kept as text')
    return value.source
  }
  if (Array.isArray(value)) return value.map((item) => makeStorable(item, note))
  if (typeof value !== 'object' || value === null) return value
  // A null prototype keeps a key such as __proto__ an ordinary key.
  const copy: Record<string, unknown> = Object.create(null)
  for (const [key, item] of Object.entries(value))
    copy[makeStorableText(key, note)] = makeStorable(item, note)
  return copy
}

export function makeStorableText(text: string, note: Note): string {
  if (!text.includes('\0') && text.isWellFormed()) return text
  note('NUL characters and halves of surrogate pairs were replaced by U+FFFD')
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

/**
 * Matches the escapes that JSON may contain and jsonb may not: NUL and surrogates. JSON.stringify prints
 * paired surrogates as characters, so it does not escape them.
 */
const UNSTORABLE = /\\u(0000|d[89a-f])/i

/** Returns JSON that PostgreSQL certainly accepts. Most values need no second pass. */
export function toStorableJson(value: unknown): string {
  const text = JSON.stringify(value)
  return UNSTORABLE.test(text) ? JSON.stringify(makeStorable(value, () => undefined)) : text
}

/** The length of the JSON that is printed in one step. */
const PIECE = 64 * 1024

/**
 * Prints a value of any size as JSON that PostgreSQL certainly accepts. Returns null if that is longer than
 * `max` characters.
 */
export function* toStorableJsonInSteps(value: unknown, max: number): Steps<string | null> {
  const output = new Output(max)
  yield* print(output, value)
  return output.isFull ? null : output.text()
}

/** The JSON printed so far. */
class Output {
  readonly #parts: string[] = []
  readonly #max: number
  #length = 0

  constructor(max: number) {
    this.#max = max
  }

  add(part: string): void {
    this.#parts.push(part)
    this.#length += part.length
  }

  /** Adds the items or entries of a container, after a comma unless they are the first. */
  addInside(part: string, opening: '[' | '{'): void {
    if (part !== '') this.add(this.#parts.at(-1) === opening ? part : `,${part}`)
  }

  /** Adds the comma before an item or entry that is printed in several steps. */
  separate(opening: '[' | '{'): void {
    if (this.#parts.at(-1) !== opening) this.add(',')
  }

  /** Returns true if the JSON is longer than allowed; the rest needs no printing. */
  get isFull(): boolean {
    return this.#length > this.#max
  }

  text(): string {
    return this.#parts.join('')
  }
}

function* print(output: Output, part: unknown): Steps<void> {
  if (output.isFull) return
  yield
  if (typeof part === 'string') yield* printText(output, part)
  else if (!isContainer(part) || jsonLengthUpTo(part, PIECE) <= PIECE) output.add(toStorableJson(part))
  else if (Array.isArray(part)) yield* printItems(output, part)
  else yield* printEntries(output, part)
}

function* printText(output: Output, text: string): Steps<void> {
  output.add('"')
  for (let from = 0; from < text.length;) {
    if (output.isFull) return
    // The halves of a surrogate pair stay together.
    const to = from + PIECE - (isHighSurrogate(text, from + PIECE - 1) ? 1 : 0)
    output.add(toStorableJson(text.slice(from, to)).slice(1, -1))
    from = to
    yield
  }
  output.add('"')
}

/** Prints small neighbours together. */
function* printItems(output: Output, items: readonly unknown[]): Steps<void> {
  let group: unknown[] = []
  let size = 0
  const end = () => {
    output.addInside(toStorableJson(group).slice(1, -1), '[')
    group = []
    size = 0
  }
  output.add('[')
  for (const item of items) {
    const more = jsonLengthUpTo(item, PIECE)
    if (size + more > PIECE) {
      end()
      if (output.isFull) return
      yield
    }
    if (more > PIECE) {
      output.separate('[')
      yield* print(output, item)
    } else {
      group.push(item)
      size += more + 1
    }
  }
  end()
  output.add(']')
}

function* printEntries(output: Output, object: Record<string, unknown>): Steps<void> {
  let group = {}
  let size = 0
  const end = () => {
    output.addInside(toStorableJson(group).slice(1, -1), '{')
    group = {}
    size = 0
  }
  output.add('{')
  for (const key of Object.keys(object)) {
    const item = object[key]
    const more = key.length + jsonLengthUpTo(item, PIECE)
    if (size + more > PIECE) {
      end()
      if (output.isFull) return
      yield
    }
    if (more > PIECE) {
      output.separate('{')
      yield* printText(output, key)
      output.add(':')
      yield* print(output, item)
    } else {
      setOwn(group, key, item)
      size += more + 4
    }
  }
  end()
  output.add('}')
}

function isHighSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xd800
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof NumberText)
}
