import type { FieldError } from '#contract/errors.ts'
import { isObject } from '../../lib/json/object.ts'
import { OUTPUT_TYPES, type OutputType } from '../outputs.ts'
import { compileSchema } from '../schema/json-schema.ts'
import { type Checked, describeField, type Field, type FieldTexts, refuse } from './field.ts'

/** The shape of an answer, as a list of fields or as a JSON schema (D60). */
export type OutputFormat = { fields: AnswerField[] } | { json: Record<string, unknown> }

/** `choices` are the texts that an answer may be. */
export type AnswerField = { name: string; type: OutputType; description: string; choices?: string[] }

/** The most choices of one field. */
const MAX_CHOICES = 200

/**
 * Defines the field for the shape of an answer. Callers see only which of the two forms was sent, not the schema (4.5).
 */
export function outputFormat(
  options: FieldTexts & {
    required?: boolean
    /** Rows run without the field, although callers are told to set it. */
    runsWithout?: true
  },
): Field<OutputFormat | undefined> {
  return {
    type: 'output_format',
    required: options.required ?? false,
    ...describeField(options, 'answer_fields'),
    ...(options.runsWithout === undefined ? {} : { runsWithout: options.runsWithout }),
    check,
    show: (configured) => (isObject(configured) && 'json' in configured ? 'json' : 'fields'),
    resolve: (configured) => configured,
    read: readFormat,
  }
}

/** Returns a format that was checked when it was configured. */
export function readFormat(configured: unknown): OutputFormat | undefined {
  return isObject(configured) ? (configured as OutputFormat) : undefined
}

const FIELD_NAME = /^[a-z][a-z0-9_]*$/

function check(raw: unknown, path: string): Checked {
  if (!isObject(raw) || 'fields' in raw === 'json' in raw) {
    return refuse(path, 'must be {"fields": [...]} or {"json": <JSON schema>}')
  }
  if ('json' in raw) {
    const { json } = raw
    if (!isObject(json)) return refuse(`${path}.json`, 'must be an object')
    const compiled = compileSchema(json)
    return compiled.ok
      ? { kind: 'save', value: { json } }
      : refuse(
          `${path}.json`,
          `must be a JSON schema that values can be checked against; it ${compiled.message}`,
        )
  }
  const list = raw['fields']
  if (!Array.isArray(list) || list.length === 0) return refuse(`${path}.fields`, 'must be a non-empty array')
  const errors = list.flatMap((item: unknown, n) => {
    const at = `${path}.fields[${n}]`
    if (!isObject(item)) return [{ field: at, message: 'must be an object' }]
    const { name, type = 'string', description = '', choices } = item
    const found = choices === undefined ? [] : checkChoices(choices, type, at)
    if (typeof name !== 'string' || !FIELD_NAME.test(name))
      found.push({ field: `${at}.name`, message: 'must be snake_case' })
    if (!OUTPUT_TYPES.some((known) => known === type)) {
      found.push({ field: `${at}.type`, message: `must be one of: ${OUTPUT_TYPES.join(', ')}` })
    }
    if (typeof description !== 'string')
      found.push({ field: `${at}.description`, message: 'must be a string' })
    return found
  })
  const names = list.map((item: unknown) => (isObject(item) ? item['name'] : undefined))
  names.forEach((name, n) => {
    if (typeof name === 'string' && names.indexOf(name) < n)
      errors.push({ field: `${path}.fields[${n}].name`, message: 'is used twice' })
  })
  if (errors.length > 0) return { kind: 'refuse', errors }
  const fields = list.filter(isObject).map(({ name, type = 'string', description = '', choices }) => ({
    name,
    type,
    description,
    ...(choices === undefined ? {} : { choices }),
  }))
  return { kind: 'save', value: { fields } }
}

/** Checks the texts that an answer may be. */
function checkChoices(choices: unknown, type: unknown, at: string): FieldError[] {
  const field = `${at}.choices`
  if (type !== 'string') return [{ field, message: 'is accepted for the type string only' }]
  const isList = Array.isArray(choices) && choices.length > 0 && choices.length <= MAX_CHOICES
  const isFilled = isList && choices.every((text: unknown) => typeof text === 'string' && text.trim() !== '')
  if (!isFilled) return [{ field, message: `must be a list of 1 to ${MAX_CHOICES} texts` }]
  return new Set(choices).size === choices.length ? [] : [{ field, message: 'must not name a text twice' }]
}
