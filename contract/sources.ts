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
    source_id: z.string().describe('The type of the source, as `search_x_tweets`'),
    status: z.enum(SOURCE_STATUSES),
    lead_count: z.int().describe('Records imported so far'),
    created_at: DateTime,
    expiration_date: z
      .string()
      .nullable()
      .describe('When it ends; null for what is imported once or has no end'),
  })
  .meta({ id: 'SourceInstance' })
export type SourceInstance = z.infer<typeof SourceInstance>

const PullCounts = z.object({
  new: z.int(),
  updated: z.int(),
  unchanged: z.int(),
  skipped: z.int().describe('Records that were not whole, such as masked ones'),
  pages: z.int(),
})

/** Addresses of a source whose records come by themselves. */
const RECEPTION = {
  pixel_id: z.string().optional(),
  pixel_script: z.string().optional().describe('The tag to put into the pages of the website'),
  webhook_url: z.string().optional().describe('Where the other service posts what it identified'),
}

export const SourceState = SourceInstance.extend({
  provider: z.string().describe('Who is asked'),
  fields: z.record(z.string(), z.unknown()).describe('The fields it was created with'),
  schedule: z.string().nullable(),
  pull_existing: z.boolean(),
  max_count: z.int().nullable(),
  max_credits: z.number().nullable(),
  credits_spent: z.number(),
  next_pull_at: DateTime.nullable(),
  pull_under_way: PullCounts.extend({ started_at: DateTime }).nullable(),
  last_pull: PullCounts.extend({
    started_at: DateTime,
    finished_at: DateTime,
    note: z.string().nullable().describe('Why it ended before the provider said so'),
  }).nullable(),
  failures_in_a_row: z.int(),
  last_error: z
    .object({ at: DateTime, message: z.string(), hint: z.string().describe('What to do') })
    .nullable()
    .describe('Null once a page was read again'),
  received: z
    .object({
      total: z.int().describe('What came by itself so far'),
      unresolved: z
        .int()
        .describe('Of these, what nobody could tell whose it is; it is no record and costs nothing'),
      waiting: z.int().describe('What is not looked at yet'),
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
          'Fields that no record has yet; nothing is delivered until one has them, or the mapping is corrected',
        ),
      delivered: z.int(),
      waiting: z.int().describe('Changes that it has not looked at yet'),
    }),
  ),
}).meta({ id: 'SourceState' })
export type SourceState = z.infer<typeof SourceState>

/** Each type of source has fields of its own, and refuses others by name. */
export const SourceBody = z
  .record(z.string(), z.unknown(), 'must be an object')
  .describe(
    'The fields of the source, and of every source: name, max_count (max_records), max_credits, dry_run, connection_id, schedule, stop_at, pull_existing (import_existing_data). Unknown and malformed fields are a 400 that names them.',
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
        'All records, whatever `limit` is: counted, or as the provider says; the number that is shown at most where neither is possible',
      ),
    capped: z
      .boolean()
      .optional()
      .describe(
        'There are more records than a preview shows (100, or 5 where the installation pays for them), or there may be',
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
    .describe(
      'From references to inputs, as `input.company`, to fields of the source, as its preview shows them',
    ),
  push_existing: z.boolean().default(true).describe('Whether records imported so far become rows too'),
  on_change: z
    .enum(['ignore', 'update', 'update_and_run'])
    .default('ignore')
    .describe('What becomes of the row when the record it was made of has changed'),
  run: z.unknown().optional().describe('Deprecated and ignored: `auto_run` of the sheet decides'),
  max_credits: MaxCredits.optional().describe(
    'Credits that rows may cost a day (UTC) which it starts, rows that are sent on included',
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
  max_credits: Credits.nullable().describe(
    'Credits that its pulls may cost in all, those that were spent included; null for no cap',
  ),
})

export const SourceStatusBody = z.strictObject({ status: z.enum(['paused', 'active']) })
export const SourceStatusChange = z.object({ source_instance_id: Uuid, status: z.enum(['paused', 'active']) })
