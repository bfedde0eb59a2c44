import { z } from 'zod'
import { DateTime, Uuid } from './envelope.ts'
import { Credits, wholeNumber } from './numbers.ts'
import { DryRun, MaxCredits } from './spending.ts'
import { Storable } from './text.ts'

export const SOURCE_STATUSES = [
  'active',
  'completed',
  'paused',
  'paused_out_of_credits',
  'expired',
  'deleted',
] as const

export const SourceInstance = z
  .object({
    source_instance_id: Uuid,
    name: z.string(),
    source_id: z.string().describe('The type of the source, such as `search_x_tweets`'),
    status: z.enum(SOURCE_STATUSES),
    lead_count: z.int().describe('Records imported so far'),
    created_at: DateTime,
    expiration_date: z
      .string()
      .nullable()
      .describe('When the source ends; null for a one-time import or without an end'),
  })
  .meta({ id: 'SourceInstance' })
export type SourceInstance = z.infer<typeof SourceInstance>

const PullCounts = z.object({
  new: z.int(),
  updated: z.int(),
  unchanged: z.int(),
  skipped: z.int().describe('Incomplete records, such as masked ones'),
  pages: z.int(),
})

/** The addresses of a source that receives its records. */
const RECEPTION = {
  pixel_id: z.string().optional(),
  pixel_script: z.string().optional().describe('The tag to add to the pages of the website'),
  webhook_url: z
    .string()
    .optional()
    .describe('The URL to which the other service posts the visitors it identifies'),
}

export const SourceState = SourceInstance.extend({
  provider: z.string().describe('The provider of the records'),
  fields: z.record(z.string(), z.unknown()).describe('The fields the source was created with'),
  connection_id: z.string().nullable().describe('The connection it was created with, by id or name'),
  schedule: z.string().nullable(),
  pull_existing: z.boolean(),
  max_count: z.int().nullable(),
  max_credits: Credits.nullable(),
  credits_spent: Credits,
  next_pull_at: DateTime.nullable(),
  pull_under_way: PullCounts.extend({ started_at: DateTime }).nullable(),
  last_pull: PullCounts.extend({
    started_at: DateTime,
    finished_at: DateTime,
    note: z.string().nullable().describe('Why the pull ended before the last page'),
  }).nullable(),
  failures_in_a_row: z.int(),
  last_error: z
    .object({ at: DateTime, message: z.string(), hint: z.string().describe('What to do') })
    .nullable()
    .describe('Null as soon as a page is read again'),
  received: z
    .object({
      total: z.int().describe('Deliveries received so far'),
      unresolved: z
        .int()
        .describe('Of these, the ones that could not be identified; they create no record and cost nothing'),
      waiting: z.int().describe('Deliveries not processed yet'),
      last_at: DateTime.nullable(),
    })
    .nullable()
    .describe('Null for a source that pulls'),
  ...RECEPTION,
  syncs: z.array(
    z.object({
      workflow_id: Uuid,
      field_mapping: z.record(z.string(), z.string()),
      push_existing: z.boolean(),
      on_change: z.enum(['ignore', 'update', 'update_and_run']),
      awaited_fields: z
        .array(z.string())
        .optional()
        .describe(
          'Mapped fields that no record has yet; nothing is delivered until a record has them or the mapping is corrected',
        ),
      delivered: z.int(),
      waiting: z.int().describe('Changes not processed yet'),
    }),
  ),
}).meta({ id: 'SourceState' })
export type SourceState = z.infer<typeof SourceState>

/** The body of Create Source and Preview Source. Each source type checks its own fields and names unknown ones. */
export const SourceBody = z
  .record(z.string(), z.unknown(), 'must be an object')
  .describe(
    'The fields of the source type, and those of every source: name, max_count (max_records), max_credits, dry_run, connection_id, schedule, stop_at, pull_existing (import_existing_data). Unknown and malformed fields are a 400 that names them.',
  )
  .optional()

export const CreatedSource = z
  .object({ source_instance_id: Uuid, name: z.string(), created_at: DateTime, ...RECEPTION })
  .meta({ id: 'CreatedSource' })

export const SourcePreview = z.object({
  data: z.array(z.record(z.string(), z.unknown())),
  metadata: z.object({
    total_results: z
      .int()
      .describe(
        'The number of all records, independent of `limit`: counted, or as the provider reports it; if neither is possible, the most that a preview shows',
      ),
    capped: z
      .boolean()
      .optional()
      .describe(
        'True if there are, or may be, more records than a preview shows (100, or 5 if the installation pays for them)',
      ),
  }),
})

export const SourceOptionsBody = z
  .strictObject({
    context: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Parent selections, such as {object_type}'),
  })
  .optional()

export const SourceOptionList = z.object({
  options: z.array(
    z.object({ value: z.string(), label: z.string(), extras: z.record(z.string(), z.unknown()).optional() }),
  ),
})

export const SourceDataQuery = z.strictObject({
  page_no: wholeNumber(1, 10_000_000).default(1),
  page_size: wholeNumber(1, 200).default(20),
})

export const SourceData = z.object({
  rows: z.array(z.record(z.string(), z.unknown())),
  total_count: z.int(),
  page_no: z.int(),
  page_size: z.int(),
})

export const SyncSourceBody = z.strictObject({
  workflow_id: Uuid,
  field_mapping: z
    .record(z.string(), Storable.min(1))
    .describe('Maps input references, such as `input.company`, to fields of the source as in its preview'),
  push_existing: z.boolean().default(true).describe('Also deliver the records imported so far'),
  on_change: z
    .enum(['ignore', 'update', 'update_and_run'])
    .default('ignore')
    .describe('What to do with a row when its record changes'),
  run: z.unknown().optional().describe('Deprecated and ignored: the `auto_run` setting of the sheet decides'),
  max_credits: MaxCredits.optional().describe(
    'The credit limit per day (UTC) for rows that this sync starts, including rows that they send to other sheets',
  ),
  dry_run: DryRun,
})

export const SyncedSource = z
  .object({
    source_instance_id: Uuid,
    workflow_id: Uuid,
    push_existing: z.boolean(),
    fields_mapped: z.int(),
  })
  .meta({ id: 'SyncedSource' })

export const ChangeSourceBody = z.strictObject({
  max_credits: MaxCredits.nullable().describe(
    'The credit limit for all pulls of the source, including credits already spent; null for no limit',
  ),
})

export const SourceStatusBody = z.strictObject({ status: z.enum(['paused', 'active']) })
export const SourceStatusChange = z.object({ source_instance_id: Uuid, status: z.enum(['paused', 'active']) })
