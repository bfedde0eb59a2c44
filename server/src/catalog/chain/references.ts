import { LRUCache } from 'lru-cache'

/**
 * A reference: an input column, an action's output, a column of a list output, or an environment variable. A name of the
 * first three kinds may continue with a path into a JSON value (D75, value-path.ts).
 */
export type Token =
  | { kind: 'input'; name: string }
  | { kind: 'output'; action: string; name: string }
  | { kind: 'column'; action: string; list: string; column: string }
  | { kind: 'env'; key: string }

/**
 * A literal text. `malformed` marks a text that opens `{{` but has none of the four forms, so that a warning can be
 * given.
 */
export type TextPart = { kind: 'text'; text: string; malformed?: true }
export type TokenPart = { kind: 'token'; token: Token; source: string }
export type Part = TextPart | TokenPart
export type Template = readonly Part[]

/**
 * The value of a token. `found: false` is an unknown token, which is an error (D33). A skipped or failed source is found,
 * with the value null.
 */
export type TokenValue = { found: true; value: unknown } | { found: false }
export type Lookup = (token: Token) => TokenValue

const CONTROL = /\p{Cc}/u
const INSTANCE_ID = /^[a-z0-9_]+$/
const ENV_KEY = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Caches parsed templates, because a configuration is read again for every row and never parses differently. */
const parsed = new LRUCache<string, Template>({
  max: 5000,
  maxSize: 2 * 1024 * 1024,
  maxEntrySize: 10_000,
  sizeCalculation: (_, text) => text.length + 1,
})

export function parseTemplate(text: string): Template {
  const known = parsed.get(text)
  if (known !== undefined) return known
  const template = readTemplate(text)
  parsed.set(text, template)
  return template
}

/**
 * Splits text into literals and tokens. The innermost `{{` opens a token (`{{{input.x}}}` is a token in single braces),
 * and a token contains no brace. Each character is read a fixed number of times.
 */
function readTemplate(text: string): Template {
  const parts: Part[] = []
  let literal = 0
  let open = text.indexOf('{{')
  while (open >= 0) {
    if (text[open + 2] === '{') {
      open += 1
      continue
    }
    const stop = nextBrace(text, open + 2)
    const closed = text.startsWith('}}', stop)
    const end = closed ? stop + 2 : text[stop] === '}' ? stop + 1 : stop
    const source = text.slice(open, end)
    const token = closed ? readToken(source.slice(2, -2)) : null
    if (open > literal) parts.push({ kind: 'text', text: text.slice(literal, open) })
    parts.push(token ? { kind: 'token', token, source } : { kind: 'text', text: source, malformed: true })
    literal = end
    open = text.indexOf('{{', end)
  }
  if (literal < text.length) parts.push({ kind: 'text', text: text.slice(literal) })
  return parts
}

export function printToken(token: Token): string {
  if (token.kind === 'input') return `{{input.${token.name}}}`
  if (token.kind === 'env') return `{{env.${token.key}}}`
  const name = token.kind === 'output' ? token.name : `${token.list}.${token.column}`
  return `{{${token.action}.${name}}}`
}

/** Returns the token if the template is exactly one token, or null if it is mixed, literal or empty. */
export function soleToken(template: Template): Token | null {
  const [part] = template
  return template.length === 1 && part?.kind === 'token' ? part.token : null
}

/** Replaces every token once with its text. Tokens inside a value are not replaced. */
export function resolveTemplate(template: Template, lookup: Lookup): Resolved<string> {
  let missing: Token[] | undefined
  let value = ''
  for (const part of template) {
    const answer = part.kind === 'text' ? undefined : lookup(part.token)
    if (part.kind === 'text') value += part.text
    else if (answer?.found === true) value += textOf(answer.value)
    else (missing ??= []).push(part.token)
  }
  return { value, missing: missing ?? NONE }
}

/** A value, and the unknown tokens in its template. */
export type Resolved<Value> = { value: Value; missing: readonly Token[] }
const NONE: readonly Token[] = []

/**
 * Does the same as `resolveTemplate`, but a template that is exactly one token gives the value itself: array, object,
 * number.
 */
export function resolveValue(template: Template, lookup: Lookup): Resolved<unknown> {
  const token = soleToken(template)
  if (!token) return resolveTemplate(template, lookup)
  const answer = lookup(token)
  return answer.found ? { value: answer.value, missing: NONE } : { value: '', missing: [token] }
}

/** Returns a JSON value as text: null is empty, arrays and objects are JSON. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return value === null || value === undefined ? '' : JSON.stringify(value)
}

function nextBrace(text: string, from: number): number {
  let at = from
  while (at < text.length && text[at] !== '{' && text[at] !== '}') at += 1
  return at
}

/**
 * Reads the content of a token. Whitespace around the reference and its names is trimmed: `{{ input.First Name }}` names
 * `First Name`.
 */
function readToken(content: string): Token | null {
  const text = content.trim()
  const [source, name] = cut(text)
  if (name === '' || CONTROL.test(text)) return null
  // An input name may contain dots (D28). The inputs of the sheet decide which part is the name and which part is a path
  // into it (D75).
  if (source === 'input') return { kind: 'input', name }
  if (source === 'env') return ENV_KEY.test(name) ? { kind: 'env', key: name } : null
  if (!INSTANCE_ID.test(source)) return null
  if (!name.includes('.')) return { kind: 'output', action: source, name }
  const [list, column] = cut(name)
  return list === '' || column === '' ? null : { kind: 'column', action: source, list, column }
}

/** Splits a text at its first dot. */
function cut(text: string): [string, string] {
  const dot = text.indexOf('.')
  return dot < 0 ? [text, ''] : [text.slice(0, dot).trimEnd(), text.slice(dot + 1).trim()]
}
