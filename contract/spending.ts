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

/** Says what it would cost instead (M4). */
export const DryRun = z
  .boolean()
  .optional()
  .describe('Check it and answer 200 with what it would cost, an Estimate; nothing is written, run or called')

/** What every body takes that starts something that may cost credits (M5). */
export const Spending = {
  max_credits: MaxCredits.optional().describe(
    'Credits that all that is started may cost together, rows that are sent on included; 0 runs what is free',
  ),
  dry_run: DryRun,
}

/** A field that is not known there and looks like a cap is refused: a misspelt one must not spend. */
export const SPENDING_WORDS = /max|credit|cap|budget|limit|dry|estimate/i
