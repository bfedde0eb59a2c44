import { z } from 'zod'
import { FieldWords } from './actions.ts'
import { DateTime, Uuid } from './envelope.ts'
import { wholeNumber } from './numbers.ts'
import { EntityKind } from './records.ts'
import { ShortcutInput, ShortcutOutput } from './shortcuts.ts'
import { Storable } from './text.ts'
import { Workflow } from './workflows.ts'

/** Schemas of the dashboard's internal API, for data that the public API leaves out. */

export const ListedWorkflow = Workflow.omit({ last_run_at: true }).extend({
  owner: z.string().nullable().describe('Email address; null if the owner was removed'),
  is_owner: z.boolean(),
  shared_with: z.int().describe('The number of members it is shared with'),
  last_run: z
    .object({
      state: z.enum(['running', 'finished', 'stopped']),
      at: DateTime,
      rows_queued: z.int(),
      rows_done: z.int(),
      cells_failed: z.int(),
    })
    .nullable()
    .describe('The latest run of any sheet and any trigger'),
})
export type ListedWorkflow = z.infer<typeof ListedWorkflow>

export const FilePreview = z.object({
  headers: z.array(z.string()).describe('The headers that can be mapped: not empty and not repeated'),
  rows: z
    .array(z.array(z.string().nullable()))
    .describe('The first rows; values in the order of the headers'),
  worksheets: z.array(z.string()).describe('The worksheets of a workbook'),
})
export type FilePreview = z.infer<typeof FilePreview>

export const ImportRejects = z.object({
  rejects: z.array(
    z.object({
      row: z
        .int()
        .describe('The row number in the file, starting at 1; the header and blank rows do not count'),
      input: z.string(),
      type: z.string(),
      value: z.string(),
    }),
  ),
  complete: z.boolean().describe('True if the list is complete'),
})
export type ImportRejects = z.infer<typeof ImportRejects>

export const ChangedSource = z.object({
  source_instance_id: Uuid,
  reads_again: z.boolean().describe('True if the source now reads everything again, from the beginning'),
})

export const RecordsQuery = z.strictObject({
  kind: EntityKind.default('company'),
  q: Storable.max(500).optional().describe('A part of any value or identifier'),
  after: Uuid.optional().describe('`next` of the previous page'),
  limit: wholeNumber(1, 200).default(50),
})

const FieldValue = z.object({ value: z.unknown(), source: z.string(), at: z.string() })
export const ListedRecord = z.object({
  entity_id: Uuid,
  kind: EntityKind,
  identifiers: z.array(z.object({ kind: z.string(), value: z.string() })),
  fields: z.record(z.string(), FieldValue).describe('Each value with its source and time'),
  change_no: z.int(),
})
export type ListedRecord = z.infer<typeof ListedRecord>
export const RecordPage = z.object({
  records: z.array(ListedRecord),
  next: Uuid.nullable().describe(
    'Continues the list. A search may have it with few records or none: it looks at a part of the records each time, and may list a record twice',
  ),
})

export const RecordDetail = ListedRecord.extend({
  created_at: DateTime,
  related_count: z
    .int()
    .describe('The number of relationships, at most 1,000; only the first ones are listed'),
  relationships: z.array(
    z.object({
      direction: z.enum(['from', 'to']).describe('`to`: from this record to the other one'),
      type: z.string(),
      source: z.string(),
      first_seen: DateTime,
      last_seen: DateTime,
      record: ListedRecord,
    }),
  ),
  events: z
    .array(z.object({ type: z.string(), at: DateTime, source: z.string(), data: z.unknown() }))
    .describe('The latest ones'),
  values: z
    .array(
      z.object({
        field: z.string(),
        value: z.unknown(),
        source: z.string(),
        first_seen: DateTime,
        last_seen: DateTime,
        current: z.boolean(),
      }),
    )
    .describe('Every value that a source gave for a field, by field, latest first'),
  merges: z
    .array(z.object({ at: DateTime, undone_at: DateTime.nullable(), by_person: z.boolean() }))
    .describe('The times when another record turned out to be the same'),
  segments: z.array(z.object({ segment_id: Uuid, name: z.string(), entered_at: DateTime })),
})
export type RecordDetail = z.infer<typeof RecordDetail>

export const SegmentMembersQuery = RecordsQuery.pick({ after: true, limit: true })
export const SegmentMembers = z.object({
  name: z.string(),
  kind: EntityKind,
  member_count: z.int(),
  members: z.array(ListedRecord.extend({ entered_at: DateTime })),
  next: Uuid.nullable(),
})
export type SegmentMembers = z.infer<typeof SegmentMembers>

export const SOURCE_FIELD_TYPES = [
  'text',
  'number',
  'boolean',
  'choice',
  'list',
  'connection',
  'pairs',
  'object',
  'objects',
  'json',
] as const

const SimpleSourceField = z.object({
  name: z.string(),
  type: z
    .enum(SOURCE_FIELD_TYPES)
    .describe(
      '`list`: texts; `pairs`: texts by name; `object`: an object with fields of its own; `objects`: a list of such objects; `json`: any value that no simple control can edit',
    ),
  required: z.boolean(),
  description: z.string(),
  ...FieldWords.shape,
  choices: z.array(z.string()).describe('The values of a `choice`; empty for other types'),
  has_options: z
    .boolean()
    .describe('True if its values are read from the account by POST /sources/{id}/options/{name}'),
})
const SourceField = SimpleSourceField.extend({ fields: z.array(SimpleSourceField) })

export const SourceType = z.object({
  source_id: z.string(),
  name: z.string(),
  description: z.string(),
  mode: z
    .enum(['once', 'recurring', 'either'])
    .describe('`either`: imported once, or again and again if it has a schedule'),
  receives: z.boolean().describe('True if its records are sent to it; it has no schedule and no preview'),
  fields: z.array(SourceField),
  providers: z.array(z.string()).describe('The providers whose connections it can use'),
  accounts: z
    .array(
      z.object({
        provider: z.string(),
        name: z.string(),
        connects: z.boolean().describe('True if an own account can be connected'),
        key: z
          .enum(['own', 'installation', 'not_needed', 'none'])
          .describe('The key that a pull would use now; `none`: an account must be connected first'),
      }),
    )
    .describe('The providers in the order in which they are tried'),
  record_fields: z
    .array(z.string())
    .nullable()
    .describe('The fields of its records; null if they depend on the account'),
})
export type SourceType = z.infer<typeof SourceType>

export const ShortcutVersions = z.object({
  inputs: z.array(ShortcutInput),
  outputs: z
    .array(ShortcutOutput.extend({ reference: z.string() }))
    .describe('Each output with its reference token'),
  unpublished: z.array(z.string()).describe('Changes of the workflow since the latest version'),
  versions: z
    .array(
      z.object({
        version: z.int(),
        revision: z.int(),
        created_by: z.string(),
        created_at: DateTime,
        changes: z.array(z.string()).describe('Changes from the previous version'),
      }),
    )
    .describe('Newest first'),
})
export type ShortcutVersions = z.infer<typeof ShortcutVersions>
