import { z } from 'zod'
import { Storable } from './text.ts'

const MAX_COLUMNS = 2000
const ColumnKey = Storable.min(1).max(300)
const Columns = z.array(ColumnKey).max(MAX_COLUMNS)

/** The column layout of a sheet for one person, by column key. Columns that it does not name keep the default layout. */
export const SheetLayout = z.strictObject({
  order: Columns.default([]),
  hidden: Columns.default([]),
  frozen: Columns.default([]),
  widths: z
    .record(ColumnKey, z.number().min(20).max(4000))
    .refine((widths) => Object.keys(widths).length <= MAX_COLUMNS, `must name at most ${MAX_COLUMNS} columns`)
    .default({}),
  shown: z
    .record(ColumnKey, Storable.min(1).max(300))
    .refine((shown) => Object.keys(shown).length <= MAX_COLUMNS, `must name at most ${MAX_COLUMNS} columns`)
    .default({})
    .describe('The output that a column of an action shows'),
  rowHeight: z.int().min(16).max(200).default(32),
})
export type SheetLayout = z.infer<typeof SheetLayout>
