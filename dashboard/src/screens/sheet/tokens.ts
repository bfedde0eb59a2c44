/** A token in a text: its place, and the text between its braces, trimmed. */
export type FoundToken = { from: number; to: number; content: string }

/** The parts of a token: an input, an output of an action, or a variable of the environment. `path` begins with the name. */
export type TokenParts =
  | { kind: 'input'; path: string }
  | { kind: 'output'; action: string; path: string }
  | { kind: 'env'; key: string }

const BRACES = /\{\{([^{}]*)\}\}/g
const CONTROL = /\p{Cc}/u
const INSTANCE_ID = /^[a-z0-9_]+$/
const ENV_KEY = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Finds the tokens of a text as the server does: the innermost braces, around one of the known forms. */
export function findTokens(text: string): FoundToken[] {
  return [...text.matchAll(BRACES)].flatMap(({ 0: source, 1: inner = '', index }) => {
    const content = inner.trim()
    return readToken(content) === null ? [] : [{ from: index, to: index + source.length, content }]
  })
}

/** Returns the parts of a token, or null if the text between the braces has none of its forms. */
export function readToken(content: string): TokenParts | null {
  const dot = content.indexOf('.')
  if (dot < 0 || CONTROL.test(content)) return null
  const [source, path] = [content.slice(0, dot).trimEnd(), content.slice(dot + 1).trim()]
  if (path === '') return null
  if (source === 'input') return { kind: 'input', path }
  if (source === 'env') return ENV_KEY.test(path) ? { kind: 'env', key: path } : null
  if (!INSTANCE_ID.test(source)) return null
  const next = path.indexOf('.')
  const hasEmptyName = next >= 0 && (path.slice(0, next).trim() === '' || path.slice(next + 1).trim() === '')
  return hasEmptyName ? null : { kind: 'output', action: source, path }
}

export const hasToken = (text: string): boolean => findTokens(text).length > 0

/** Returns what is between the braces of a text that is one token, or null. */
export function soleToken(text: string): string | null {
  const [token] = findTokens(text)
  return token !== undefined && token.from === 0 && token.to === text.length ? token.content : null
}

/** A step into a value: the key of an object, or the position in a list. */
export type Step = string | number

/** Splits a path at the end of its first name. Returns null if what follows forms no steps. */
export function splitPath(path: string, from = 0): { head: string; steps: Step[] } | null {
  const end = firstBreak(path, from)
  const steps = readSteps(path.slice(end))
  return steps === null ? null : { head: path.slice(0, end).trimEnd(), steps }
}

/** Finds the input that a path begins with: the longest name wins, because names may hold dots. */
export function splitInputPath(
  path: string,
  isInput: (name: string) => boolean,
): { head: string; steps: Step[] } | null {
  if (isInput(path)) return { head: path, steps: [] }
  for (let end = lastBreak(path, path.length); end > 0; end = lastBreak(path, end)) {
    const head = path.slice(0, end).trimEnd()
    const steps = isInput(head) ? readSteps(path.slice(end)) : null
    if (steps !== null) return { head, steps }
  }
  return null
}

const isBreak = (character: string | undefined) => character === '.' || character === '['

function firstBreak(text: string, from: number): number {
  let at = from
  while (at < text.length && !isBreak(text[at])) at += 1
  return at
}

function lastBreak(text: string, before: number): number {
  let at = before - 1
  while (at >= 0 && !isBreak(text[at])) at -= 1
  return at
}

function readSteps(text: string): Step[] | null {
  const steps: Step[] = []
  for (let at = 0; at < text.length;) {
    const end = firstBreak(text, at + 1)
    const part = text.slice(at + 1, end).trim()
    const digits = text[at] === '[' ? /^(\d{1,9})\s*\]$/.exec(part)?.[1] : undefined
    if (text[at] === '[' && digits === undefined) return null
    if (part === '') return null
    steps.push(digits === undefined ? part : Number(digits))
    at = end
  }
  return steps
}

/** Returns the text of a step after a path, or null if a token cannot hold it. */
export function printStep(step: Step): string | null {
  if (typeof step === 'number') return `[${step}]`
  return step === '' || step !== step.trim() || /[{}.[\]]|\p{Cc}/u.test(step) ? null : `.${step}`
}

/** Returns the value at the end of a path, or undefined. A key of a list reads that key of each item. Text that is JSON is opened. */
export function readPath(value: unknown, steps: readonly Step[]): unknown {
  let reached = steps.length > 0 ? openValue(value) : value
  for (const step of steps) reached = readStep(reached, step)
  return reached
}

function readStep(value: unknown, step: Step): unknown {
  if (typeof step === 'number') return Array.isArray(value) ? (value[step] as unknown) : undefined
  if (Array.isArray(value)) return value.map((item: unknown) => readStep(item, step) ?? null)
  return isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns a text that holds JSON as its value, and any other value unchanged. */
export function openValue(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value) as unknown
  } catch {
    return value
  }
}
