import { z } from 'zod'

const MAX_CREDITS = 1_000_000_000

/** Credits with at most three decimals (D22). */
export const MaxCredits = z
  .number()
  .min(0)
  .max(MAX_CREDITS)
  .refine(
    (credits) => Math.abs(credits * 1000 - Math.round(credits * 1000)) < 1e-4,
    'must have at most 3 decimals',
  )

/** A flag that returns an estimate instead of doing the work (M4). */
export const DryRun = z
  .boolean()
  .optional()
  .describe(
    'Checks the request and returns 200 with an Estimate of its cost; nothing is written, run or called',
  )

/** The fields of every body that starts work which may cost credits (M5). */
export const Spending = {
  max_credits: MaxCredits.optional().describe(
    'The credit limit for everything this request starts, including rows sent to other sheets; 0 runs only what is free',
  ),
  dry_run: DryRun,
}

/** Matches unknown fields that look like a credit limit. They are refused, because a misspelled limit must not lead to spending. */
export const SPENDING_WORDS = /max|credit|cap|budget|limit|dry|estimate/i
