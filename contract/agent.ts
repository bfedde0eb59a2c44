import { z } from 'zod'
import { DateTime } from './envelope.ts'
import { Credits } from './numbers.ts'
import { DryRun, MaxCredits } from './spending.ts'

export const MAX_PROMPT = 20_000
export const MAX_OUTPUT_FIELDS = 20
const MAX_FIELD_NAME = 100

export const AGENT_FIELD_TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object'] as const

const FieldSchema = z.object({
  type: z.enum(AGENT_FIELD_TYPES),
  description: z.string().max(2000).default(''),
})

const OutputSchema = z
  .looseObject({
    properties: z
      .record(z.string().min(1).max(MAX_FIELD_NAME), FieldSchema)
      .refine((fields) => Object.keys(fields).length >= 1, 'must name at least one field')
      .refine(
        (fields) => Object.keys(fields).length <= MAX_OUTPUT_FIELDS,
        `must have at most ${MAX_OUTPUT_FIELDS} fields`,
      ),
  })
  .describe('The fields of the answer')

export const AgentBody = z
  .strictObject({
    prompt: z
      .string()
      .min(1)
      .max(MAX_PROMPT)
      .refine((text) => text.isWellFormed() && !text.includes('\0'), 'must be well-formed text without NUL')
      .describe('The question to answer'),
    output_schema: OutputSchema.optional(),
    max_credits: MaxCredits.optional().describe('The call is refused when it could cost more'),
    dry_run: DryRun,
  })
  .refine(({ prompt }) => prompt === '' || prompt.trim() !== '', {
    path: ['prompt'],
    message: 'must not be blank',
  })

export const AgentCitation = z
  .object({
    url: z.string().describe('A page that was read for this answer'),
    title: z.string().nullable(),
    quote: z.string().describe('Words from that page'),
    field: z.string().optional(),
  })
  .meta({ id: 'Citation' })

export const AgentFinding = z
  .object({
    confidence: z.number().min(0).max(1).describe('Rises with the number of independent hosts that agree'),
    hosts: z.array(z.string()),
    reason: z.string().nullable().describe('Why the value is null'),
  })
  .meta({ id: 'Finding' })

export const AgentAnswer = z.object({
  status: z.literal(200),
  data: z
    .record(z.string(), z.unknown())
    .describe('Keyed by the fields, or `result`; null where no value could be established'),
  citations: z.array(AgentCitation),
  findings: z.record(z.string(), AgentFinding),
  request_id: z.string(),
})

export const AgentRunRecord = z
  .object({
    request_id: z.string(),
    state: z.enum(['running', 'answered', 'failed']),
    model: z.string().nullable(),
    prompt: z.string(),
    error: z.string().nullable(),
    credits: Credits,
    started_at: DateTime,
    ended_at: DateTime.nullable(),
    answer: z.unknown(),
    trace: z.unknown().describe('Searches, pages and model calls, in order'),
    spent: z.unknown().describe('Steps, searches, pages, bytes and tokens used'),
  })
  .meta({ id: 'AgentRun' })
