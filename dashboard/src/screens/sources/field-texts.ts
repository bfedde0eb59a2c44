import { ApiError } from '../../api/api-error.ts'
import type { SimpleField, SourceField, Typed } from './source-form.ts'

/** Returns the path under which the number of objects of a list field is stored. */
export const countPath = (path: string) => `${path}.length`
export const countAt = (typed: Typed, path: string) => Number(typed[countPath(path)] ?? 0)

/** Returns the typed values in the format of the API; empty fields are omitted. Throws if a JSON field does not hold JSON. */
export function readFields(fields: readonly SourceField[], typed: Typed): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = readField(field, field.name, typed)
      return value === undefined ? [] : [[field.name, value]]
    }),
  )
}

function readField(field: SourceField, path: string, typed: Typed): unknown {
  if (field.type === 'object') {
    const read = readWithin(field.fields, path, typed)
    return Object.keys(read).length === 0 ? undefined : read
  }
  if (field.type === 'objects') {
    const count = countAt(typed, path)
    return count === 0
      ? undefined
      : Array.from({ length: count }, (_, place) => readWithin(field.fields, `${path}[${place}]`, typed))
  }
  return readValue(field, path, typed)
}

function readWithin(fields: readonly SimpleField[], path: string, typed: Typed): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = readValue(field, `${path}.${field.name}`, typed)
      return value === undefined ? [] : [[field.name, value]]
    }),
  )
}

/** Returns the texts of a form for values in the format of the API, the reverse of `readFields`. */
export function typeFields(
  fields: readonly SourceField[],
  values: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const typed: Record<string, string> = {}
  for (const field of fields) {
    const value = values[field.name]
    if (value === undefined || value === null) continue
    if (field.type === 'object') typeWithin(typed, field, field.name, value)
    else if (field.type === 'objects' && Array.isArray(value)) {
      typed[countPath(field.name)] = String(value.length)
      for (const [place, one] of value.entries()) typeWithin(typed, field, `${field.name}[${place}]`, one)
    } else typed[field.name] = typeValue(field, value)
  }
  return typed
}

function typeWithin(
  typed: Record<string, string>,
  { fields }: SourceField,
  path: string,
  value: unknown,
): void {
  if (typeof value !== 'object' || value === null) return
  const given = new Map(Object.entries(value))
  for (const field of fields) {
    const one: unknown = given.get(field.name)
    if (one !== undefined && one !== null) typed[`${path}.${field.name}`] = typeValue(field, one)
  }
}

function typeValue({ type }: SimpleField, value: unknown): string {
  if (type === 'json') return JSON.stringify(value, null, 2)
  if (type === 'list' && Array.isArray(value)) return value.map(String).join('\n')
  if (type === 'pairs' && typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([name, text]) => `${name}: ${String(text)}`)
      .join('\n')
  }
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

const splitLines = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

function readValue({ type }: SimpleField, path: string, typed: Typed): unknown {
  const text = typed[path]?.trim() ?? ''
  if (text === '') return undefined
  switch (type) {
    case 'number':
      return Number.isFinite(Number(text)) ? Number(text) : text
    case 'boolean':
      return text === 'true'
    case 'list':
      return splitLines(text)
    case 'pairs':
      return readPairs(text, path)
    case 'json':
      return readJson(text, path)
    case 'text':
    case 'choice':
    case 'connection':
    case 'object':
    case 'objects':
      return text
  }
}

/** Reads one `name: value` pair per line, as in HTTP headers. */
function readPairs(text: string, path: string): Record<string, string> {
  return Object.fromEntries(
    splitLines(text).map((line) => {
      const at = line.search(/[:=]/)
      if (at < 1) throw createFieldError(path, `“${line}” must be a name, a colon and a value`)
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    }),
  )
}

function readJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw createFieldError(path, 'must be JSON')
  }
}

function createFieldError(field: string, message: string): ApiError {
  return new ApiError(`${field}: ${message}`, {
    status: 400,
    code: 'Validation Error',
    fields: [{ field, message }],
  })
}
