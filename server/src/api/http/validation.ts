import type { z } from 'zod'
import type { Warning } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import { validationError } from '../../lib/errors.ts'

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/**
 * Checks one part of a request. Throws a 400 with every failure at once. Fields that the schema does not know are left
 * out and reported as warnings, so nothing is dropped in silence. `root` names the part in paths such as `inputs[0].type`.
 */
export function checkPart<Output>(
  schema: z.ZodType<Output>,
  value: unknown,
  root: string,
): { value: Output; warnings: Warning[] } {
  if (value === undefined && !schema.safeParse(undefined).success) value = missingPart(root)
  const parsed = schema.safeParse(value)
  if (parsed.success) return { value: parsed.data, warnings: [] }

  const unknown = parsed.error.issues.filter((issue) => issue.code === 'unrecognized_keys')
  const cleaned = unknown.length === 0 ? value : withoutKeys(value, unknown)
  const again = unknown.length === 0 ? parsed : schema.safeParse(cleaned)
  if (!again.success) {
    throw validationError(again.error.issues.flatMap((issue) => fieldErrors(issue, cleaned, root)))
  }
  return {
    value: again.data,
    warnings: unknown.flatMap((issue) =>
      issue.keys.map((key) => ({
        field: printPath([...issue.path, key], root),
        code: 'unknown_field',
        message: 'this field is not known here and was ignored',
      })),
    ),
  }
}

function missingPart(root: string): never {
  throw validationError([{ field: root, message: 'required' }])
}

function withoutKeys(value: unknown, issues: Extract<Issue, { code: 'unrecognized_keys' }>[]): unknown {
  const copy: unknown = structuredClone(value)
  for (const issue of issues) {
    const holder = valueAt(copy, issue.path)
    if (typeof holder === 'object' && holder !== null)
      for (const key of issue.keys) Reflect.deleteProperty(holder, key)
  }
  return copy
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? Reflect.get(at, key) : undefined),
    value,
  )
}

/** `['inputs', 0, 'type']` reads `inputs[0].type`. The root shows only where a path would be empty or start with an index. */
function printPath(path: Path, root: string): string {
  const [first] = path
  const start = first === undefined || typeof first === 'number' ? root : ''
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    return text === '' ? String(key) : `${text}.${String(key)}`
  }, start)
}

function fieldErrors(issue: Issue, value: unknown, root: string): FieldError[] {
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
