import { z } from 'zod'
import { boundedArray } from './bounded-array.ts'
import { Uuid } from './envelope.ts'
import { DeletedRows, MAX_ROW_IDS, RejectedRow, RowSelection } from './rows.ts'

/** Values by input name; those that are not named stay as they are. */
export const EditRowsBody = z.strictObject({
  rows: boundedArray(z.strictObject({ row_id: Uuid, inputs: z.unknown() }), { min: 1, max: MAX_ROW_IDS }),
  edit_id: Uuid.optional().describe('Of an edit in several calls: what the first one answered'),
})
export const EditedRows = z.object({
  edited_row_ids: z.array(Uuid),
  edit_id: Uuid.nullable().describe('What undoes it; null where it is too large to be kept'),
  rejected: z.array(RejectedRow).describe('Rows that are gone, or whose values cannot be taken'),
})

export const EditParams = z.object({ edit_id: Uuid })
/** What somebody changed in a sheet and may take back, the latest first. */
export const KeptEdits = z.array(z.object({ edit_id: Uuid, undone: z.boolean(), made_at: z.string() }))
export const TurnedEdit = z.object({
  changed_row_ids: z.array(Uuid),
  values_left: z.int().describe('Values that somebody changed since, which stay as they are'),
})

/** Rows that the dashboard deleted can be brought back for a while. */
export const DeleteForNowBody = z.strictObject({
  row_ids: boundedArray(z.string(), { min: 1, max: MAX_ROW_IDS }),
})
export const DeletedForNow = DeletedRows
export const RestoredRows = z.object({ restored_count: z.int(), restored_row_ids: z.array(Uuid) })

/** Rows by their place among those selected: what a grid shows, and no more. */
export const RowWindowBody = z.strictObject({
  offset: z.int().min(0).max(1_000_000_000),
  limit: z.int().min(1).max(200),
  ...RowSelection,
})

/** How far each action is. */
export const SheetTotals = z.object({
  rows: z.int(),
  settled: z.record(z.string(), z.int()).describe('Cells with a result, by action'),
  is_sampled: z.boolean().describe('Whether they were counted in some rows only, those of a large sheet'),
})

export const RevisionView = z.object({ revision: z.int() })
const DefinitionStep = z.object({ from: z.int(), to: z.int(), made_at: z.string() })
/** One's own changes of inputs and actions: to take back, the latest first, and to do again, the next first. */
export const DefinitionSteps = z.object({ past: z.array(DefinitionStep), future: z.array(DefinitionStep) })
const RevisionNumber = z.int32().min(1)
/** Inputs and actions become what they were, as long as nobody changed them since. */
export const RestoreDefinitionBody = z.strictObject({
  from: RevisionNumber.describe('The revision that is taken back'),
  to: RevisionNumber.describe('The one before it'),
})
