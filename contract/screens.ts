import { z } from 'zod'
import { FieldWords } from './actions.ts'
import { DateTime, Uuid } from './envelope.ts'
import { wholeNumber } from './numbers.ts'
import { EntityKind } from './records.ts'
import { ShortcutInput, ShortcutOutput } from './shortcuts.ts'
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

export const RecordsQuery = z.strictObject({
  kind: EntityKind.default('company'),
  q: z
    .string()
    .max(500)
    .optional()
    .describe('The beginning of a domain, an email address or another identifier'),
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
export const RecordPage = z.object({ records: z.array(ListedRecord), next: Uuid.nullable() })

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
  fields: z.array(SourceField),
  providers: z.array(z.string()).describe('The providers whose connections it can use'),
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
