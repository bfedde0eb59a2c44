import { z } from 'zod'

/** What the dashboard shows and the public API leaves out. */

export const FAILED_STATUSES = ['failed', 'error', 'out_of_credits'] as const

export const FailureCause = z.object({
  action_instance_id: z.string(),
  status: z.enum(FAILED_STATUSES),
  error: z.string(),
  cells: z.int(),
})
export type FailureCause = z.infer<typeof FailureCause>

export const FilePreview = z.object({
  headers: z.array(z.string()).describe('Those that can be mapped: named, and only once'),
  rows: z.array(z.array(z.string().nullable())).describe('The first records, in the order of the headers'),
  worksheets: z.array(z.string()).describe('Of a workbook'),
})
export type FilePreview = z.infer<typeof FilePreview>
