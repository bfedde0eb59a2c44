import { z } from 'zod'
import { EntityKind } from './records.ts'
import { ListedRecord } from './screens.ts'
import { Name } from './text.ts'

/** Schemas of the dashboard's internal API to create and change segments. The public API only reads them. */

export const SegmentName = Name.max(200, 'must have at most 200 characters')
/** A filter. The server checks it against the existing fields and reports each error by its path. */
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
  looked_at: z.int().describe('The number of entities checked'),
  complete: z.boolean().describe('True if every entity was checked; otherwise the count is still growing'),
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
  force: z
    .enum(['true', 'false'])
    .default('false')
    .describe('Delete the segment even if it is synced; this also ends the sync'),
})
