import { z } from 'zod'
import { Uuid } from './envelope.ts'
import { Find, RowSelection } from './rows.ts'

const { find: _find, ...FILTERS } = RowSelection

/** Where a row stands among those selected. */
export const RowPlaceBody = z.strictObject({ row_id: Uuid, ...FILTERS })
export const RowPlace = z.object({ place: z.int().nullable().describe('Null where it is not among them') })

/** The failed cell behind another one, in the order of rows and actions; behind the last it begins again. */
export const NextFailedBody = z.strictObject({
  after: z
    .strictObject({
      row_id: Uuid,
      action: z
        .string()
        .max(200)
        .optional()
        .describe('Without it, failed cells of the row itself come first'),
    })
    .optional(),
  ...RowSelection,
})
export const NextFailed = z.object({ row_id: Uuid, action: z.string() }).nullable()

/** Looks for a text for about a second, from a place on. */
export const FindRowsBody = z.strictObject({
  from: z.int().min(0).optional().describe('What the answer before said'),
  ...FILTERS,
  find: Find,
})
export const FoundRows = z.object({
  row_ids: z.array(Uuid).describe('In the order of rows'),
  looked_at: z.int().describe('Rows from the first on'),
  rows: z.int().describe('Of the sheet'),
  next: z.int().nullable().describe('Where to go on; null at the end'),
})
