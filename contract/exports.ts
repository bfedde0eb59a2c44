import { z } from 'zod'
import { boundedArray } from './bounded-array.ts'
import { crossCheck } from './cross-check.ts'
import { DateTime, Uuid } from './envelope.ts'
import { MAX_SELECTED_IDS, RowSelection } from './rows.ts'

export const EXPORT_FORMATS = ['csv', 'jsonl', 'xlsx'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** What an export may have of each cell beside its outputs (D82). */
export const EXPORT_EXTRAS = ['status', 'error'] as const
export type ExportExtra = (typeof EXPORT_EXTRAS)[number]

export const MAX_FILE_NAME = 100
export const EXPORT_LINK_MINUTES = 15
export const EXPORT_HOURS = 24

/** No selector means every row; rows may be excluded from all of them or from those that filters choose (D42). */
export const ExportBody = z
  .strictObject({
    row_ids: boundedArray(Uuid, { max: MAX_SELECTED_IDS }).optional(),
    exclude_row_ids: boundedArray(Uuid, { max: MAX_SELECTED_IDS }).optional(),
    ...RowSelection,
    file_name: z
      .string()
      .optional()
      .describe(
        `Without extension; default \`export\`. What is no letter or digit becomes \`_\`; at most ${MAX_FILE_NAME} characters are kept`,
      ),
    format: z.enum(EXPORT_FORMATS).default('csv'),
    include: boundedArray(z.enum(EXPORT_EXTRAS), { max: 10 })
      .optional()
      .describe('A column each per action: how its cell ended, and why it failed'),
    bom: z
      .boolean()
      .optional()
      .describe('CSV only: a byte order mark in front, which some spreadsheets need'),
  })
  .check(
    crossCheck((context) => {
      const { row_ids, ...others } = context.value
      if (row_ids === undefined) return
      for (const name of ['exclude_row_ids', 'filters', 'status_filters', 'created_at'] as const) {
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
    row_count: z.int().describe('Rows in the file; those written so far while it is running'),
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
