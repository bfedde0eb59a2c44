import { NumberText } from '../json/lossless-json.ts'
import { createSecretSearch } from './secret-search.ts'

/**
 * The length of the shortest value that is redacted. A shorter value is a word like any other: redacting it
 * would garble texts and hide nothing.
 */
const SHORTEST = 4
const CUT = '[redacted]'

/** Redacts secrets in texts and values. */
export type Mask = {
  inText: (text: string) => string
  /**
   * Returns a copy with all secrets redacted in its texts, numbers and keys, or the value itself if it
   * contains none.
   */
  inValue: (value: unknown) => unknown
}

/** Returns the text with all secrets redacted, both in plain form and as URLs and JSON encode them. */
export function redact(text: string, secrets: Iterable<string>): string {
  return createMask(secrets).inText(text)
}

export function createMask(secrets: Iterable<string>): Mask {
  const kept = [...secrets].filter((secret) => secret.length >= SHORTEST)
  const find = createSecretSearch([...new Set(kept.flatMap(spell))])
  const inText = (text: string) => {
    let [cut, end] = ['', 0]
    for (const [from, to] of find(text)) {
      cut += text.slice(end, from) + CUT
      end = to
    }
    return end === 0 ? text : cut + text.slice(end)
  }
  return { inText, inValue: (value) => (holdsAny(value, inText) ? cutAll(value, inText) : value) }
}

function spell(secret: string): string[] {
  const encoded = encodeURIComponent(secret.toWellFormed())
  return [secret, encoded, encoded.replaceAll('%20', '+'), JSON.stringify(secret).slice(1, -1)]
}

type Container = Record<string, unknown> | unknown[]

/**
 * Returns true if the value contains a secret. This is checked before copying: copying a large object takes
 * several times as long, and hardly any value contains a secret.
 */
function holdsAny(value: unknown, inText: Mask['inText']): boolean {
  const pending: unknown[] = [value]
  while (pending.length > 0) {
    const next = pending.pop()
    if (!isContainer(next)) {
      if (cutOne(next, inText) !== next) return true
    } else if (Array.isArray(next)) {
      for (const item of next) pending.push(item)
    } else {
      for (const key of Object.keys(next)) {
        if (inText(key) !== key) return true
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
function cutAll(value: unknown, inText: Mask['inText']): unknown {
  const root: unknown[] = [value]
  const pending: Container[] = [root]
  for (let container = pending.pop(); container !== undefined; container = pending.pop()) {
    for (const [key, entry] of Object.entries(container)) {
      const cut = cutOne(entry, inText)
      if (cut !== entry) Reflect.set(container, key, cut)
      if (isContainer(cut)) pending.push(cut)
    }
  }
  return root[0]
}

/** Returns a text or number without secrets. Returns a copy of a container whose keys contain no secrets. */
function cutOne(value: unknown, inText: Mask['inText']): unknown {
  if (typeof value === 'string') return inText(value)
  if (typeof value === 'number' || value instanceof NumberText) {
    const text = value instanceof NumberText ? value.source : String(value)
    return inText(text) === text ? value : CUT
  }
  if (!isContainer(value)) return value
  return Array.isArray(value)
    ? [...value]
    : Object.fromEntries(Object.entries(value).map(([key, part]) => [inText(key), part]))
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null && !(value instanceof NumberText)
}
