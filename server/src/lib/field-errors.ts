import type { z } from 'zod'
import type { FieldError } from '#contract/errors.ts'

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined),
    value,
  )
}

/** `['inputs', 0, 'type']` reads `inputs[0].type`. The root shows only where a path would be empty or start with an index. */
export function printPath(path: Path, root: string): string {
  const [first] = path
  const start = first === undefined || typeof first === 'number' ? root : ''
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    return text === '' ? String(key) : `${text}.${String(key)}`
  }, start)
}

export function fieldErrors(issue: Issue, value: unknown, root: string): FieldError[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      field: printPath([...issue.path, key], root),
      message: 'not accepted',
    }))
  }
  return [{ field: printPath(issue.path, root), message: messageOf(issue, valueAt(value, issue.path)) }]
}

const TYPE_NAMES: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

const FORMAT_NAMES: Record<string, string> = {
  guid: 'a UUID',
  email: 'an email address',
  date: 'a date in the form YYYY-MM-DD',
  datetime: 'an ISO 8601 date-time',
}

function messageOf(issue: Issue, value: unknown): string {
  if (value === undefined && (issue.code === 'invalid_type' || issue.code === 'invalid_value'))
    return 'required'
  switch (issue.code) {
    case 'invalid_type':
      return isOwnWords(issue.message)
        ? issue.message
        : `must be ${TYPE_NAMES[issue.expected] ?? `of type ${issue.expected}`}`
    case 'invalid_value':
      return issue.values.length === 1
        ? `must be ${String(issue.values[0])}`
        : `must be one of: ${issue.values.map(String).join(', ')}`
    case 'invalid_format':
      return FORMAT_NAMES[issue.format] === undefined
        ? issue.message
        : `must be ${FORMAT_NAMES[issue.format]}`
    case 'too_small':
      return isOwnWords(issue.message)
        ? issue.message
        : `must be ${atLeast(issue.origin, Number(issue.minimum))}`
    case 'too_big':
      return isOwnWords(issue.message)
        ? issue.message
        : `must be at most ${sized(issue.origin, Number(issue.maximum))}`
    case 'invalid_union':
      return isOwnWords(issue.message) ? issue.message : 'has a shape that is not accepted'
    case 'not_multiple_of':
    case 'unrecognized_keys':
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      return issue.message
  }
}

/** Zod's own texts start with a capital; those written in our contracts do not. */
function isOwnWords(message: string): boolean {
  return /^[a-z]/.test(message)
}

function atLeast(origin: string, minimum: number): string {
  if ((origin === 'string' || origin === 'array') && minimum === 1) return 'non-empty'
  return `at least ${sized(origin, minimum)}`
}

function sized(origin: string, size: number): string {
  const unit = { string: 'characters', array: 'items' }[origin]
  return unit === undefined ? String(size) : `${size.toLocaleString('en-US')} ${unit}`
}
