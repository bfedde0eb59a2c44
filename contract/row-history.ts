import { z } from 'zod'
import { DateTime, Uuid } from './envelope.ts'
import { Credits, wholeNumber } from './numbers.ts'
import { Row } from './rows.ts'
import { CellDetail } from './runs.ts'
import { crossCheck } from './schema-checks.ts'

export const GetRowQuery = z
  .strictObject({
    order_id: Uuid.optional().describe(
      'An order of List Rows: the neighbours are those in this order; without it, those by insertion',
    ),
    view_id: Uuid.optional().describe('A view: the neighbours are those among its rows, in its order'),
  })
  .check(
    crossCheck((context) => {
      const { order_id, view_id } = context.value
      if (order_id === undefined || view_id === undefined) return
      const message = 'cannot be combined with order_id'
      context.issues.push({ code: 'custom', input: view_id, path: ['view_id'], message })
    }),
  )

export const RowDetail = Row.extend({
  cells: z.record(z.string(), CellDetail).describe('With provenance and billing, as Get Cell returns them'),
  previous_row_id: Uuid.nullable(),
  next_row_id: Uuid.nullable(),
}).meta({ id: 'RowDetail' })

const MAX_ENTRIES = 200

export const RowHistoryQuery = z.strictObject({
  limit: wholeNumber(1, MAX_ENTRIES).default(50),
  cursor: z.string().max(200).optional().describe('`next_cursor` of the previous page'),
})

export const RowEntry = z
  .object({
    at: DateTime,
    kind: z.enum(['added', 'edited', 'run']),
    by: z
      .string()
      .nullable()
      .describe('The person who added, edited or ran the row; null if that is not known'),
    run_id: Uuid.optional(),
    credits: Credits.optional().describe('What the run was billed for results that the row has or had'),
    changes: z
      .array(
        z.object({
          input: z.string().nullable().describe('Null if the input was removed'),
          before: z.unknown(),
          after: z.unknown(),
        }),
      )
      .optional()
      .describe('Long values are cut'),
  })
  .meta({ id: 'RowEntry' })

export const RowHistory = z.object({
  entries: z.array(RowEntry).describe('Newest first'),
  next_cursor: z.string().nullable(),
})
