import { z } from 'zod'
import { Uuid } from './envelope.ts'
import { wholeNumber } from './numbers.ts'

export const MAX_CAUSES = 200

/** The statuses of a cell that failed. */
export const FAILED_STATUSES = ['failed', 'error', 'out_of_credits'] as const

export const CausesQuery = z.strictObject({
  run_id: Uuid.optional().describe('Only cells that this run left failed; all failed cells when absent'),
  limit: wholeNumber(1, MAX_CAUSES).default(50),
})

export const Cause = z
  .object({
    cause: z
      .string()
      .describe('The key of the cause, the same in each run. Selectors of rows take it as `cause`'),
    action_instance_id: z.string(),
    status: z.enum(FAILED_STATUSES),
    words: z.string().describe('What went wrong, for people'),
    hint: z.string().describe('What to do about it'),
    raw: z.array(z.string()).describe('Up to 3 different errors as the cells have them'),
    cells: z.int(),
    rows: z.int(),
  })
  .meta({ id: 'Cause' })
export type Cause = z.infer<typeof Cause>

export const Causes = z
  .object({
    causes: z.array(Cause).describe('Most cells first'),
    cells: z.int().describe('Failed cells of all causes'),
    rows: z.int().describe('Rows with at least one of them'),
    truncated: z.boolean().describe('There are more causes than are listed'),
  })
  .meta({ id: 'Causes' })
export type Causes = z.infer<typeof Causes>
