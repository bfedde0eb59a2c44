import { isObject } from '../../lib/json/object.ts'
import type { OutputFormat } from '../fields/output-format.ts'
import type { OutputType } from '../outputs.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { nameOutputs } from '../values/output-names.ts'

export const AGENT_FIELD_TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object'] as const
export type AgentFieldType = (typeof AGENT_FIELD_TYPES)[number]

/** One thing that the agent is to find out. */
export type AgentField = { name: string; type: AgentFieldType; description: string }

export type AgentTask = {
  /** What is asked, in the caller's words. */
  mission: string
  /** Values of the row that the mission speaks of, marked as data; empty where there is no row. */
  data: string
  /** Where the caller names sites: their own words, and values of the row that are nothing but an address. */
  named: string
  fields: readonly AgentField[]
  /** Only pages of these domains are read, where there are any. */
  allowedDomains: readonly string[]
}

/** A page that was really read, and words that really stand on it. */
export type Citation = { url: string; title: string | null; quote: string; field: string }

/** How sure an answer is, or why there is none. */
export type FieldFinding = {
  /** 0 to 1. Grows with the number of independent hosts that say the same. */
  confidence: number
  /** Registrable domains whose pages support the value. */
  hosts: string[]
  /** Why the value is null; null where it is not. */
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

/** What the last pass answers: for each field its value, the words that support it, or why there is none. */
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

/** The fields of an action's output format; one text where there is none. */
export function fieldsOfFormat(format: OutputFormat | undefined): AgentField[] {
  if (format === undefined)
    return [{ name: 'response', type: 'string', description: 'The answer, in words.' }]
  if ('fields' in format) {
    return format.fields.map(({ name, type, description }) => ({ name, type: AS_ASKED[type], description }))
  }
  const { properties } = format.json
  // By the names of the outputs (D74), so that each value arrives under the one that was announced.
  return Object.entries(nameOutputs(isObject(properties) ? properties : {})).map(([name, schema]) => {
    const { type, description } = isObject(schema) ? schema : {}
    const known = AGENT_FIELD_TYPES.find((one) => one === type || (Array.isArray(type) && type.includes(one)))
    return { name, type: known ?? 'string', description: typeof description === 'string' ? description : '' }
  })
}
