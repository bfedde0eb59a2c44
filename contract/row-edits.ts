import { z } from 'zod'
import { Uuid } from './envelope.ts'
import { DeletedRows, MAX_ROW_IDS, RejectedRow, RowSelection } from './rows.ts'
import { boundedArray } from './schema-checks.ts'

/** The body of an edit: values by input name. Inputs that are not named keep their values. */
export const EditRowsBody = z.strictObject({
  rows: boundedArray(z.strictObject({ row_id: Uuid, inputs: z.unknown() }), { min: 1, max: MAX_ROW_IDS }),
  edit_id: Uuid.optional().describe('For an edit in several calls: the id that the first call returned'),
})
export const EditedRows = z.object({
  edited_row_ids: z.array(Uuid),
  edit_id: Uuid.nullable().describe('The id to undo the edit; null if the edit is too large to be kept'),
  rejected: z.array(RejectedRow).describe('Rows that were deleted, or whose values are invalid'),
})

export const EditParams = z.object({ edit_id: Uuid })
/** The edits of a sheet that its author can undo, newest first. */
export const KeptEdits = z.array(z.object({ edit_id: Uuid, undone: z.boolean(), made_at: z.string() }))
export const TurnedEdit = z.object({
  changed_row_ids: z.array(Uuid),
  values_left: z.int().describe('Values that were changed again since; they are not reverted'),
})

/** The body of a deletion in the dashboard. Its rows can be restored for a while. */
export const DeleteForNowBody = z.strictObject({
  row_ids: boundedArray(z.string(), { min: 1, max: MAX_ROW_IDS }),
})
export const DeletedForNow = DeletedRows
export const RestoredRows = z.object({ restored_count: z.int(), restored_row_ids: z.array(Uuid) })

/** A window of the selected rows, by position: only the rows that a grid shows. */
export const RowWindowBody = z.strictObject({
  offset: z.int().min(0).max(1_000_000_000),
  limit: z.int().min(1).max(200),
  ...RowSelection,
})

/** The progress of each action. */
export const SheetTotals = z.object({
  rows: z.int(),
  settled: z.record(z.string(), z.int()).describe('Cells with a result, by action'),
  failed: z.record(z.string(), z.int()).describe('Cells that failed, by action'),
  is_sampled: z.boolean().describe('True if the cells of a large sheet were counted in a sample of its rows'),
})

export const RevisionView = z.object({ revision: z.int() })
const DefinitionStep = z.object({ from: z.int(), to: z.int(), made_at: z.string() })
/** The caller's changes of inputs and actions: those to undo, newest first, and those to redo, next first. */
export const DefinitionSteps = z.object({ past: z.array(DefinitionStep), future: z.array(DefinitionStep) })
const RevisionNumber = z.int32().min(1)
/** Restores inputs and actions to an earlier revision, unless somebody has changed them since. */
export const RestoreDefinitionBody = z.strictObject({
  from: RevisionNumber.describe('The revision to undo'),
  to: RevisionNumber.describe('The revision before it'),
})
