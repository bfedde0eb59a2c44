import { z } from 'zod'

/** An amount of credits in an answer: it has at most three decimals (D22). */
export const Credits = z.number()

/** Returns the schema of a whole number in a query string, where every value is text. */
export function wholeNumber(min: number, max: number) {
  return z
    .string()
    .regex(/^\d{1,10}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(min).max(max))
}
