import { z } from 'zod'

/** The schema parts that bodies of several sources share. */

export const words = (describe: string) =>
  z.array(z.string().trim().min(1).max(200)).min(1).max(100).describe(describe)

export const countries = z
  .array(z.string().regex(/^[A-Z]{2}$/, 'must be two capital letters, such as US'))
  .min(1)
  .max(250)
  .describe('ISO 3166 codes, such as US, DE')
  .optional()

export const days = (describe: string) => z.int().min(1).max(3650).describe(describe).optional()

/** The fields of a company, named as in the catalogue. */
export const companyFields = {
  name: z.string(),
  domain: z.string().nullable(),
  industry: z.string().nullable(),
  employees: z.number().nullable(),
  country: z.string().nullable(),
  linkedin_url: z.string().nullable(),
}
