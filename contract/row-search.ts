import { z } from 'zod'
import { Uuid } from './envelope.ts'
import { Find, RowSelection } from './rows.ts'

const { find: _find, ...FILTERS } = RowSelection

/** The body of a request for the position of a row among the selected rows. */
export const RowPlaceBody = z.strictObject({ row_id: Uuid, ...FILTERS })
export const RowPlace = z.object({
  place: z.int().nullable().describe('Null if the row is not among the selected rows'),
})

/** The body of a request for the next failed cell, in the order of rows and actions. After the last cell the search wraps around. */
export const NextFailedBody = z.strictObject({
  after: z
    .strictObject({
      row_id: Uuid,
      action: z
        .string()
        .max(200)
        .optional()
        .describe('If absent, the search starts with the failed cells of the row itself'),
    })
    .optional(),
  ...RowSelection,
})
export const NextFailed = z.object({ row_id: Uuid, action: z.string() }).nullable()

/** The body of a text search. One call searches for about a second, starting at `from`. */
export const FindRowsBody = z.strictObject({
  from: z.int().min(0).optional().describe('`next` of the previous response'),
  ...FILTERS,
  find: Find,
})
export const FoundRows = z.object({
  row_ids: z.array(Uuid).describe('In the order of rows'),
  looked_at: z.int().describe('Rows searched so far, counted from the first'),
  rows: z.int().describe('Rows of the sheet'),
  next: z.int().nullable().describe('`from` of the next call; null at the end'),
})
