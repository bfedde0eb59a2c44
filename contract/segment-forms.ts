import { z } from 'zod'
import { EntityKind } from './records.ts'
import { ListedRecord } from './screens.ts'
import { Name } from './text.ts'

/** What the dashboard asks to make segments; the public API only reads them. */

export const SegmentName = Name.max(200, 'must have at most 200 characters')
/** Checked with the fields that there are, every fault by its place. */
const SegmentFilter = z
  .unknown()
  .describe('Condition groups as in `run_if.conditions`, with field names as variables')

export const RecordFieldsQuery = z.strictObject({ kind: EntityKind.default('company') })
export const RecordField = z.object({
  name: z.string(),
  type: z.string().describe('`identifier`, text, number, boolean, date, json, or mixed'),
  operators: z.array(z.string()),
})
export type RecordField = z.infer<typeof RecordField>

export const PreviewSegmentBody = z.strictObject({ kind: EntityKind, filter: SegmentFilter })
export const SegmentPreview = z.object({
  members: z.int(),
  looked_at: z.int().describe('Entities of the kind that were judged'),
  complete: z.boolean().describe('Whether all were; else the count goes on growing'),
  sample: z.array(ListedRecord).describe('The first members'),
})
export type SegmentPreview = z.infer<typeof SegmentPreview>

export const CreateSegmentBody = z.strictObject({
  name: SegmentName,
  kind: EntityKind,
  filter: SegmentFilter,
})
export const UpdateSegmentBody = z
  .strictObject({ name: SegmentName.exactOptional(), filter: SegmentFilter.optional() })
  .refine(({ name, filter }) => name !== undefined || filter !== undefined, 'needs a name or a filter')
export const DeleteSegmentQuery = z.strictObject({
  force: z.enum(['true', 'false']).default('false').describe('Also when it is synced: the sync ends'),
})
