import { z } from 'zod'

const MAX_CREDITS = 1_000_000_000

/** An amount of credits with at most three decimals (D22). */
export const Credits = z
  .number()
  .min(0)
  .max(MAX_CREDITS)
  .refine((amount) => Number(amount.toFixed(3)) === amount, 'must have at most 3 decimals')

/** Returns the schema of a whole number in a query string, where every value is text. */
export function wholeNumber(min: number, max: number) {
  return z
    .string()
    .regex(/^\d{1,10}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(min).max(max))
}
