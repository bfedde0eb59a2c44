import { z } from 'zod'

/** A text as providers send it: null or absent if they do not know it. */
export const WireText = z.string().nullish()

export const WireNumber = z.number().nullish()

/** A number that some replies write as a text. */
export const WireAmount = z.union([z.number(), z.string()]).nullish()

/** Returns the number, also of `1,200`, or null for a range or anything else. */
export function readAmount(amount: z.output<typeof WireAmount>): number | null {
  if (typeof amount === 'number') return amount
  const digits = (amount ?? '').trim().replace(/,(?=\d{3})/g, '')
  return /^\d+(\.\d+)?$/.test(digits) ? Number(digits) : null
}

/** Returns the year of `1949`, `"1949"` or `1949-01-01`. */
export function readYear(founded: z.output<typeof WireAmount>): number | null {
  const [year] = /^\d{4}(?!\d)/.exec(String(founded ?? '')) ?? []
  return year === undefined ? null : Number(year)
}
