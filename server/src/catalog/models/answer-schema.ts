import { isObject, ownValue } from '../../lib/json/object.ts'
import type { AnswerField, OutputFormat } from '../fields/output-format.ts'
import { type ConfiguredOutputs, type Output, output, type OutputType } from '../outputs.ts'
import { type CheckValue, compileSchema, type JsonSchema } from '../schema/json-schema.ts'
import { nameColumns, nameOutputs } from '../values/output-names.ts'

/** The schema that an answer must fit. */
export type AnswerSchema = {
  /** The schema as the model sees it. */
  told: JsonSchema
  /** Set if a server can enforce every part of the schema: all keys are required, and no others are allowed. */
  strict: boolean
  check: CheckValue
  /** Normalises an answer of a model before it is checked (D97). */
  read?: (answer: unknown) => unknown
}

const known = new WeakMap<OutputFormat, AnswerSchema>()

/** Returns the schema of a format. It is made once for each configuration. */
export function toAnswerSchema(format: OutputFormat): AnswerSchema {
  const made = known.get(format) ?? makeSchema(format)
  known.set(format, made)
  return made
}

function makeSchema(format: OutputFormat): AnswerSchema {
  if ('json' in format) return fromJsonSchema(format.json)
  const told = schemaOfFields(format.fields, (type) => TOLD[type])
  const { check } = fromJsonSchema(schemaOfFields(format.fields, (type) => CHECKED[type]))
  return {
    told,
    strict: format.fields.every(({ type }) => !OPEN.has(type)),
    check,
    read: (answer) => readFields(answer, format.fields),
  }
}

/** Reads null as "not found" for every field, and drops keys that were not asked for (D97). */
function readFields(answer: unknown, fields: readonly AnswerField[]): unknown {
  if (answer === null) return Object.fromEntries(fields.map(({ name }) => [name, null]))
  if (!isObject(answer)) return answer
  const given = fields.filter(({ name }) => Object.hasOwn(answer, name))
  return Object.fromEntries(given.map(({ name }) => [name, answer[name]]))
}

const texts = new WeakMap<object, string>()

/** Returns a schema as JSON text. The text is cached, because rows share the schema of their configuration. */
export function printSchema(schema: object): string {
  const text = texts.get(schema) ?? JSON.stringify(schema)
  texts.set(schema, text)
  return text
}

/** Creates an answer schema from a JSON schema that was checked when the action was configured. */
export function fromJsonSchema(json: JsonSchema): AnswerSchema {
  const compiled = compileSchema(json)
  if (!compiled.ok) throw new Error(`the schema ${compiled.message}`)
  return { told: json, strict: false, check: compiled.check }
}

/** Allows null as a value: a model that may say "no answer" does not make one up. */
const nullable = (type: string, more: JsonSchema = {}): JsonSchema => ({ type: [type, 'null'], ...more })
const ANY: JsonSchema = { type: ['string', 'number', 'boolean', 'object', 'array', 'null'] }

const CHECKED: Record<OutputType, JsonSchema> = {
  string: nullable('string'),
  number: nullable('number'),
  date: nullable('string'),
  boolean: nullable('boolean'),
  url: nullable('string', { format: 'uri' }),
  email: nullable('string', { format: 'email' }),
  json: ANY,
  raw_array: nullable('array'),
  structured_array: nullable('array', { items: { type: 'object' } }),
}
/**
 * The types as the model sees them. Servers refuse schemas with formats that they do not know, so MEANING describes the
 * formats in words.
 */
const TOLD: Record<OutputType, JsonSchema> = {
  ...CHECKED,
  url: nullable('string'),
  email: nullable('string'),
  raw_array: nullable('array', { items: {} }),
}
const MEANING: Partial<Record<OutputType, string>> = {
  url: 'An absolute URL, with https:// or http://.',
  email: 'An email address.',
  date: 'An ISO 8601 date or date-time: 2026-01-31 or 2026-01-31T09:30:00Z.',
  json: 'Any JSON value.',
  raw_array: 'A list.',
  structured_array: 'A list of objects that all have the same keys.',
}
const OPEN: ReadonlySet<OutputType> = new Set(['json', 'raw_array', 'structured_array'])

function schemaOfFields(fields: AnswerField[], schemaOf: (type: OutputType) => JsonSchema): JsonSchema {
  const properties = fields.map(({ name, type, description, choices }) => {
    const words = [description, MEANING[type]].filter((text) => text !== undefined && text !== '').join(' ')
    return [
      name,
      {
        ...schemaOf(type),
        ...(choices === undefined ? {} : { enum: [...choices, null] }),
        ...(words === '' ? {} : { description: words }),
      },
    ]
  })
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: fields.map(({ name }) => name),
    additionalProperties: false,
  }
}

/**
 * Returns the outputs of a cell: one for each key of the answer. A list becomes `items`, any other value becomes
 * `response`.
 */
export function outputsOfAnswer(format: OutputFormat, value: unknown): Record<string, unknown> {
  if (Array.isArray(value)) return { items: nameColumns(value) }
  if (!isObject(value)) return { response: value }
  if ('fields' in format) return value
  const { properties } = format.json
  const absent = Object.keys(isObject(properties) ? properties : {}).filter(
    (name) => !Object.hasOwn(value, name),
  )
  return nameOutputs({ ...value, ...Object.fromEntries(absent.map((name) => [name, null])) })
}

/**
 * Returns the outputs that a format announces before any answer (D74): its fields, the properties of its schema, or
 * `response`.
 */
export function outputsOfFormat(format: OutputFormat | undefined): ConfiguredOutputs {
  if (format === undefined) return { outputs: { response: output.text('The answer.') }, closed: true }
  if ('fields' in format) {
    const outputs = format.fields.map(({ name, ...output }) => [name, output])
    return { outputs: Object.fromEntries(outputs), closed: true }
  }
  const { properties, additionalProperties } = format.json
  const types = nameOutputs(isObject(properties) ? properties : {})
  const outputs = Object.entries(types).map(([name, schema]) => [name, outputOfSchema(schema)])
  return {
    outputs: Object.fromEntries(outputs),
    closed: additionalProperties === false && outputs.length > 0,
  }
}

function outputOfSchema(schema: unknown): Output {
  const { type, format, description, items } = isObject(schema) ? schema : {}
  const words = typeof description === 'string' ? description : ''
  const kinds = (Array.isArray(type) ? type : [type]).filter((kind) => kind !== 'null')
  const kind: unknown = kinds.length === 1 ? kinds[0] : undefined
  if (kind === 'array' && isObject(items) && isObject(items['properties'])) {
    const columns = Object.entries(items['properties']).map(([name, part]) => [
      name,
      outputOfSchema(part).type,
    ])
    return { type: 'structured_array', description: words, columns: Object.fromEntries(columns) }
  }
  const known = typeof kind === 'string' ? ownValue(TYPES, kind) : undefined
  if (known === undefined) return { ...output.any(words) }
  const isText = known === 'string'
  if (isText && (format === 'uri' || format === 'url')) return { type: 'url', description: words }
  if (isText && (format === 'date' || format === 'date-time')) return { type: 'date', description: words }
  return { type: isText && format === 'email' ? 'email' : known, description: words }
}

const TYPES: Readonly<Record<string, OutputType>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  object: 'json',
  array: 'raw_array',
}
