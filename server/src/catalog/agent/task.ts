import { isObject } from '../../lib/json/object.ts'
import type { OutputFormat } from '../fields/output-format.ts'
import type { OutputType } from '../outputs.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { nameOutputs } from '../values/output-names.ts'

export const AGENT_FIELD_TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object'] as const
export type AgentFieldType = (typeof AGENT_FIELD_TYPES)[number]

/** One field that the agent must find. */
export type AgentField = { name: string; type: AgentFieldType; description: string }

export type AgentTask = {
  /** The question, in the caller's words. */
  mission: string
  /** The values of the row that the mission mentions, marked as data. Empty if there is no row. */
  data: string
  /**
   * The texts in which the caller names sites: the caller's own words, and values of the row that consist of an address
   * only.
   */
  named: string
  fields: readonly AgentField[]
  /** The only domains whose pages are read. An empty list allows all. */
  allowedDomains: readonly string[]
}

/** A page that has been read, and a quote that has been found on it. */
export type Citation = { url: string; title: string | null; quote: string; field: string }

/** The confidence in an answer, or the reason why there is none. */
export type FieldFinding = {
  /** A number from 0 to 1. It grows with the number of independent hosts that agree. */
  confidence: number
  /** The registrable domains whose pages support the value. */
  hosts: string[]
  /** The reason why the value is null, or null if there is a value. */
  reason: string | null
}

export type AgentAnswer = {
  data: Record<string, unknown>
  citations: Citation[]
  findings: Record<string, FieldFinding>
}

const VALUE: Record<AgentFieldType, JsonSchema> = {
  string: { type: ['string', 'null'] },
  number: { type: ['number', 'null'] },
  integer: { type: ['integer', 'null'] },
  boolean: { type: ['boolean', 'null'] },
  array: { type: ['array', 'null'], items: {} },
  object: { type: ['object', 'null'] },
}

const SOURCES: JsonSchema = {
  type: 'array',
  items: {
    type: 'object',
    properties: {
      page: { type: 'integer', description: 'The number of the page.' },
      quote: {
        type: 'string',
        description: 'Words of that page, letter for letter, that support the value.',
      },
    },
    required: ['page', 'quote'],
    additionalProperties: false,
  },
}

/**
 * Returns the JSON schema of the last pass's answer: for each field its value, the quotes that support it, or the reason
 * why there is none.
 */
export function schemaOfFindings(fields: readonly AgentField[]): JsonSchema {
  const properties = fields.map(({ name, type, description }) => [
    name,
    {
      type: 'object',
      ...(description === '' ? {} : { description }),
      properties: {
        value: VALUE[type],
        sources: SOURCES,
        reason: { type: ['string', 'null'], description: 'Why the value is null.' },
      },
      required: ['value', 'sources', 'reason'],
      additionalProperties: false,
    },
  ])
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: fields.map(({ name }) => name),
    additionalProperties: false,
  }
}

const AS_ASKED: Record<OutputType, AgentFieldType> = {
  string: 'string',
  url: 'string',
  email: 'string',
  number: 'number',
  date: 'string',
  boolean: 'boolean',
  json: 'object',
  raw_array: 'array',
  structured_array: 'array',
}

/** Returns the fields of an action's output format, or one text field if there is no format. */
export function fieldsOfFormat(format: OutputFormat | undefined): AgentField[] {
  if (format === undefined)
    return [{ name: 'response', type: 'string', description: 'The answer, in words.' }]
  if ('fields' in format) {
    return format.fields.map(({ name, type, description }) => ({ name, type: AS_ASKED[type], description }))
  }
  const { properties } = format.json
  // Uses the names of the outputs (D74), so that each value is stored under the name that was announced.
  return Object.entries(nameOutputs(isObject(properties) ? properties : {})).map(([name, schema]) => {
    const { type, description } = isObject(schema) ? schema : {}
    const known = AGENT_FIELD_TYPES.find((one) => one === type || (Array.isArray(type) && type.includes(one)))
    return { name, type: known ?? 'string', description: typeof description === 'string' ? description : '' }
  })
}
