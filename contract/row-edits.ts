import { z } from 'zod'
import { boundedArray } from './bounded-array.ts'
import { Uuid } from './envelope.ts'
import { DeletedRows, MAX_ROW_IDS, RejectedRow } from './rows.ts'

/** Values by input name; those that are not named stay as they are. */
export const EditRowsBody = z.strictObject({
  rows: boundedArray(z.strictObject({ row_id: Uuid, inputs: z.unknown() }), { min: 1, max: MAX_ROW_IDS }),
})
export const EditedRows = z.object({
  edited_row_ids: z.array(Uuid),
  rejected: z.array(RejectedRow).describe('Rows that are gone, or whose values cannot be taken'),
})

/** Rows that the dashboard deleted can be brought back for a while. */
export const DeletedForNow = DeletedRows
export const RestoredRows = z.object({ restored_count: z.int(), restored_row_ids: z.array(Uuid) })
