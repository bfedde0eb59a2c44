import { z } from 'zod'
import type { FieldError } from '#contract/errors.ts'

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined),
    value,
  )
}

/**
 * Prints `['inputs', 0, 'type']` as `inputs[0].type`. Prints the root only where the path would be empty or
 * start with an index.
 */
export function printPath(path: Path, root: string): string {
  const [first] = path
  const start = first === undefined || typeof first === 'number' ? root : ''
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    return text === '' ? String(key) : `${text}.${String(key)}`
  }, start)
}

/** Receives the keys that an object may have, wherever an object has other keys. */
type NoteKnownKeys = (path: Path, keys: readonly string[]) => void

/** Parses a value. `wordIssue` provides the messages that the schema does not define itself. */
export function parseInWords<Output>(
  schema: z.ZodType<Output>,
  value: unknown,
  note?: NoteKnownKeys,
): z.ZodSafeParseResult<Output> {
  if (note === undefined) return schema.safeParse(value, { error: wordIssue })
  const error: z.core.$ZodErrorMap = (issue) => {
    if (issue.code === 'unrecognized_keys' && issue.inst instanceof z.ZodObject) {
      note(issue.path ?? [], Object.keys(issue.inst.shape))
    }
    return wordIssue(issue)
  }
  return schema.safeParse(value, { error })
}

/** Returns the field errors for an issue of `parseInWords`. */
export function fieldErrors(issue: Issue, value: unknown, root: string): FieldError[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      field: printPath([...issue.path, key], root),
      message: 'not accepted',
    }))
  }
  // A missing value is checked first: the schema's message says what a value must be, but there is no value.
  const missing =
    (issue.code === 'invalid_type' || issue.code === 'invalid_value') &&
    valueAt(value, issue.path) === undefined
  return [{ field: printPath(issue.path, root), message: missing ? 'required' : issue.message }]
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

/** The error map. Zod calls it only where neither a schema nor a check has a message. */
const wordIssue: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPE_NAMES[issue.expected] ?? `of type ${issue.expected}`}`
    case 'invalid_value':
      return issue.values.length === 1
        ? `must be ${String(issue.values[0])}`
        : `must be one of: ${issue.values.map(String).join(', ')}`
    case 'invalid_format':
      return FORMAT_NAMES[issue.format] === undefined ? undefined : `must be ${FORMAT_NAMES[issue.format]}`
    case 'too_small':
      return `must be ${atLeast(issue.origin, Number(issue.minimum))}`
    case 'too_big':
      return `must be at most ${sized(issue.origin, Number(issue.maximum))}`
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'invalid_union':
      return 'has a shape that is not accepted'
    case 'unrecognized_keys':
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      return undefined
  }
}

function atLeast(origin: string, minimum: number): string {
  if ((origin === 'string' || origin === 'array') && minimum === 1) return 'non-empty'
  return `at least ${sized(origin, minimum)}`
}

function sized(origin: string, size: number): string {
  const unit = { string: 'characters', array: 'items' }[origin]
  return unit === undefined ? String(size) : `${size.toLocaleString('en-US')} ${unit}`
}
