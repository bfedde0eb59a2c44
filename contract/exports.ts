import { z } from 'zod'
import { Sort } from './columns.ts'
import { DateTime, Uuid } from './envelope.ts'
import { MAX_SELECTED_IDS, RowSelection } from './rows.ts'
import { boundedArray, crossCheck } from './schema-checks.ts'

export const EXPORT_FORMATS = ['csv', 'jsonl', 'xlsx'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** The columns that an export can add for each action, beside its outputs (D82). */
export const EXPORT_EXTRAS = ['status', 'error'] as const
export type ExportExtra = (typeof EXPORT_EXTRAS)[number]

export const MAX_FILE_NAME = 100
export const EXPORT_LINK_MINUTES = 15
export const EXPORT_HOURS = 24

/** The body of Export Sheet. No selector means every row. `exclude_row_ids` works with and without filters (D42). */
export const ExportBody = z
  .strictObject({
    row_ids: boundedArray(Uuid, { max: MAX_SELECTED_IDS }).optional(),
    exclude_row_ids: boundedArray(Uuid, { max: MAX_SELECTED_IDS }).optional(),
    ...RowSelection,
    sort: Sort.optional(),
    file_name: z
      .string()
      .optional()
      .describe(
        `Without extension; default \`export\`. Characters other than letters and digits become \`_\`; at most ${MAX_FILE_NAME} characters are kept`,
      ),
    format: z.enum(EXPORT_FORMATS).default('csv'),
    include: boundedArray(z.enum(EXPORT_EXTRAS), { max: 10 })
      .optional()
      .describe('Adds columns per action: the status of its cell, and the error if it failed'),
    bom: z
      .boolean()
      .optional()
      .describe('CSV only: starts the file with a byte order mark, which some spreadsheets need'),
  })
  .check(
    crossCheck((context) => {
      const { row_ids, ...others } = context.value
      if (row_ids === undefined) return
      const names = [
        'exclude_row_ids',
        'filters',
        'status_filters',
        'created_at',
        'cause',
        'view_id',
      ] as const
      for (const name of names) {
        if (others[name] === undefined) continue
        const message = 'cannot be combined with row_ids'
        context.issues.push({ code: 'custom', input: others[name], path: [name], message })
      }
    }),
  )
  .default({ format: 'csv' })

export const Export = z
  .object({
    export_id: Uuid,
    status: z.enum(['running', 'completed', 'failed']),
    progress: z.int().min(0).max(100).describe('100 only when completed'),
    row_count: z.int().describe('Rows in the file; while it is running, rows written so far'),
    file_url: z
      .string()
      .optional()
      .describe(
        `Only when completed. Needs no key, so treat it as a secret. Valid for ${EXPORT_LINK_MINUTES} minutes; every poll makes a new one`,
      ),
    expires_at: DateTime.optional().describe('When `file_url` stops working'),
    error: z.string().optional().describe('Only when failed'),
    started_at: DateTime,
    completed_at: DateTime.nullable(),
  })
  .meta({ id: 'Export' })
