import { NumberText } from '../../lib/json/lossless-json.ts'
import { parseTemplate, type Token } from './references.ts'

/** A token in a configuration. `path` is like `body[0].value`, and `source` is the text as written. */
export type FoundToken = { path: string; token: Token; source: string }
export type FoundText = { path: string; source: string }

type Container = Record<string, unknown> | unknown[]

/** Returns every token in the strings of a value, in reading order. Object keys hold no tokens. */
export function listTokens(value: unknown, path = ''): FoundToken[] {
  return listStrings(value, path).flatMap(({ path, source: text }) =>
    parseTemplate(text).flatMap((part) =>
      part.kind === 'token' ? [{ path, token: part.token, source: part.source }] : [],
    ),
  )
}

/** Returns every `{{...}}` that is no valid token, such as `{{foo}}` or `{{input.x}`. */
export function listMalformed(value: unknown, path = ''): FoundText[] {
  return listStrings(value, path).flatMap(({ path, source: text }) =>
    parseTemplate(text).flatMap((part) =>
      part.kind === 'text' && part.malformed ? [{ path, source: part.text }] : [],
    ),
  )
}

/** Returns a copy with every string replaced. The result of `change` is not walked again. */
export function mapStrings(value: unknown, change: (text: string) => unknown): unknown {
  const root = [value]
  const pending: Container[] = [root]
  // Uses a list of pending containers instead of recursion: a body nested 100,000 levels deep must not overflow the
  // stack.
  for (let container = pending.pop(); container; container = pending.pop()) {
    for (const [key, entry] of Object.entries(container)) {
      if (typeof entry === 'string') Reflect.set(container, key, change(entry))
      else if (isContainer(entry)) {
        const copy = Array.isArray(entry) ? [...entry] : { ...entry }
        Reflect.set(container, key, copy)
        pending.push(copy)
      }
    }
  }
  return root[0]
}

function listStrings(value: unknown, path: string): FoundText[] {
  const found: FoundText[] = []
  const pending: { path: string; value: unknown }[] = [{ path, value }]
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { path, value } = next
    if (typeof value === 'string') found.push({ path, source: value })
    else if (isContainer(value)) {
      const inside = Object.entries(value).map(([key, value]) => ({
        path: join(path, key, next.value),
        value,
      }))
      for (const entry of inside.toReversed()) pending.push(entry)
    }
  }
  return found
}

function join(path: string, key: string, container: unknown): string {
  if (Array.isArray(container)) return `${path}[${key}]`
  return path === '' ? key : `${path}.${key}`
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null && !(value instanceof NumberText)
}
