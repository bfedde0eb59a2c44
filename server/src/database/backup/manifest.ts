import { z } from 'zod'
import { Sequence, Table } from './sql/tables.ts'

export const FORMAT = 1

/** The first part of an archive. It says which versions can read the archive. */
export const Manifest = z.object({
  format: z.literal(FORMAT),
  created_at: z.iso.datetime(),
  schema_version: z.int(),
  queue_version: z.string(),
  tables: z.array(Table),
  sequences: z.array(Sequence),
})
export type Manifest = z.infer<typeof Manifest>

/** The last part of an archive: the number of rows and files before it. */
export const Totals = z.object({ rows: z.int(), files: z.int(), files_gone: z.int() })
export type Totals = z.infer<typeof Totals>

export const NAMES = {
  manifest: 'manifest.json',
  secret: 'secret',
  adminKey: 'admin-key',
  files: 'files/',
  tables: 'tables/',
  totals: 'totals.json',
} as const
