import { isObject } from '../../lib/json/object.ts'
import type { ConfiguredValue } from '../chain/definition.ts'
import { mapStrings } from '../chain/reference-walk.ts'
import { readJson } from '../values/json-text.ts'
import { describeField, type Field, type FieldTexts, refuse, type Scope } from './field.ts'

/** The body to send: JSON, or text that is not JSON. */
export type Payload = { json: unknown } | { text: string }

/**
 * Defines a field for JSON with tokens in its texts, given as JSON, as JSON text or as `{name, value}` items. Values of
 * the row are inserted after the JSON was parsed, so that no quote in them can change it.
 */
export function payload(options: FieldTexts & { required?: boolean }): Field<Payload> {
  return {
    type: 'promptField',
    required: options.required ?? false,
    ...describeField(options, 'json'),
    keepsNumbers: true,
    check: (raw, path) =>
      typeof raw === 'string' || Array.isArray(raw) || isObject(raw)
        ? { kind: 'save', value: raw }
        : refuse(path, 'must be text, an object or an array'),
    resolve,
    // `resolve` returns no other shape, and an unset required field is never read.
    read: (resolved) => resolved as Payload,
  }
}

function resolve(configured: ConfiguredValue, scope: Scope): Payload | '' {
  if (typeof configured !== 'string') return { json: fill(toObject(configured), scope) }
  const template = readJson(configured)
  if (template.ok && typeof template.value === 'object') return { json: fill(template.value, scope) }
  const value = scope.value(configured)
  if (typeof value !== 'string') return value === null || value === undefined ? '' : { json: value }
  if (value.trim() === '') return ''
  const parsed = readJson(value)
  return parsed.ok ? { json: parsed.value } : { text: value }
}

const fill = (value: unknown, scope: Scope): unknown => mapStrings(value, (text) => scope.value(text))

/** Turns items that all have a name into the keys of one object, as in `body` of an HTTP call. */
function toObject(configured: Exclude<ConfiguredValue, string>): unknown {
  if (!Array.isArray(configured)) return configured
  const items: unknown[] = [...configured]
  const pairs = items.filter(isObject).flatMap((item): [string, unknown][] => {
    const { name } = item
    return typeof name === 'string' && 'value' in item ? [[name, item['value']]] : []
  })
  return pairs.length === items.length ? Object.fromEntries(pairs) : configured
}
