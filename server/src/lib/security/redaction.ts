import { NumberText } from '../json/lossless-json.ts'
import { setOwn } from '../json/object.ts'
import { atOnce, inTurns, type Steps } from '../timing/turns.ts'
import { createSecretSearch } from './secret-search.ts'

/**
 * The length of the shortest value that is redacted. A shorter value is a word like any other: redacting it
 * would garble texts and hide nothing.
 */
const SHORTEST = 4
const CUT = '[redacted]'

/** The number of characters that are searched, and of entries that are gone through, in one step. */
const PIECE = 64 * 1024
const ENTRIES = 500

/** Redacts secrets in texts and values. */
export type Mask = {
  inText: (text: string) => string
  /** Does the same for a text of any size, in turns with other work. */
  inLargeText: (text: string) => Promise<string>
  /**
   * Returns a copy with all secrets redacted in its texts, numbers and keys, or the value itself if it
   * contains none.
   */
  inValue: (value: unknown) => unknown
  /** Does the same for a value of any size, in turns with other work. */
  inLargeValue: (value: unknown) => Promise<unknown>
}

/** Returns the text with all secrets redacted, both in plain form and as URLs and JSON encode them. */
export function redact(text: string, secrets: Iterable<string>): string {
  return createMask(secrets).inText(text)
}

export function createMask(secrets: Iterable<string>): Mask {
  const kept = [...secrets].filter((secret) => secret.length >= SHORTEST)
  const spelled = [...new Set(kept.flatMap(spell))]
  const find = createSecretSearch(spelled)
  const longest = spelled.reduce((most, { length }) => Math.max(most, length), 0)

  /** Searches piece by piece. A secret belongs to the piece in which it begins. */
  function* inText(text: string): Steps<string> {
    const pieces: string[] = []
    let end = 0
    let last: [start: number, end: number] | undefined
    for (let from = 0; from < text.length; from += PIECE) {
      if (from > 0) yield
      const parts: string[] = []
      for (const [start, stop] of find(text.slice(from, from + PIECE + longest), PIECE)) {
        if (last !== undefined && from + start < last[1]) {
          last[1] = Math.max(last[1], from + stop)
          continue
        }
        if (last !== undefined) parts.push(text.slice(end, last[0]), CUT)
        end = last?.[1] ?? 0
        last = [from + start, from + stop]
      }
      if (parts.length > 0) pieces.push(parts.join(''))
    }
    return last === undefined
      ? text
      : `${pieces.join('')}${text.slice(end, last[0])}${CUT}${text.slice(last[1])}`
  }
  function* inValue(value: unknown): Steps<unknown> {
    return (yield* holdsAny(value, inText)) ? yield* cutAll(value, inText) : value
  }
  return {
    inText: (text) => atOnce(inText(text)),
    inLargeText: (text) => inTurns(inText(text)),
    inValue: (value) => atOnce(inValue(value)),
    inLargeValue: (value) => inTurns(inValue(value)),
  }
}

type CutText = (text: string) => Steps<string>

function spell(secret: string): string[] {
  const encoded = encodeURIComponent(secret.toWellFormed())
  return [secret, encoded, encoded.replaceAll('%20', '+'), JSON.stringify(secret).slice(1, -1)]
}

type Container = Record<string, unknown> | unknown[]

/**
 * Returns true if the value contains a secret. This is checked before copying: copying a large object takes
 * several times as long, and hardly any value contains a secret.
 */
function* holdsAny(value: unknown, inText: CutText): Steps<boolean> {
  const pending: unknown[] = [value]
  for (let count = 1; pending.length > 0; count += 1) {
    if (count % ENTRIES === 0) yield
    const next = pending.pop()
    if (!isContainer(next)) {
      if ((yield* cutOne(next, inText)) !== next) return true
    } else if (Array.isArray(next)) {
      for (const item of next) pending.push(item)
    } else {
      for (const key of Object.keys(next)) {
        count += 1
        if (count % ENTRIES === 0) yield
        if ((yield* inText(key)) !== key) return true
        pending.push(next[key])
      }
    }
  }
  return false
}

/**
 * Copies the value and redacts it. A list of pending containers replaces recursion, because a value may be
 * nested deeper than the stack.
 */
function* cutAll(value: unknown, inText: CutText): Steps<unknown> {
  const root: unknown[] = [value]
  const pending: Container[] = [root]
  let count = 0
  for (let container = pending.pop(); container !== undefined; container = pending.pop()) {
    for (const key of Object.keys(container)) {
      count += 1
      if (count % ENTRIES === 0) yield
      const entry: unknown = Reflect.get(container, key)
      const cut = isContainer(entry) ? yield* copyOf(entry, inText) : yield* cutOne(entry, inText)
      if (cut !== entry) setOwn(container, key, cut)
      if (isContainer(cut)) pending.push(cut)
    }
  }
  return root[0]
}

/** Returns a text or number without secrets. */
function* cutOne(value: unknown, inText: CutText): Steps<unknown> {
  if (typeof value === 'string') return yield* inText(value)
  if (typeof value !== 'number' && !(value instanceof NumberText)) return value
  const text = value instanceof NumberText ? value.source : String(value)
  return (yield* inText(text)) === text ? value : CUT
}

/** Returns a copy of a container whose keys contain no secrets. */
function* copyOf(container: Container, inText: CutText): Steps<Container> {
  if (Array.isArray(container)) return [...container]
  const copy: Record<string, unknown> = {}
  for (const [n, key] of Object.keys(container).entries()) {
    if (n % ENTRIES === ENTRIES - 1) yield
    setOwn(copy, yield* inText(key), container[key])
  }
  return copy
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null && !(value instanceof NumberText)
}
