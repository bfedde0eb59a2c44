import { z } from 'zod'
import type { FieldError } from '#contract/errors.ts'
import { unmasked } from '../../rows.ts'
import { countries, words } from '../../search-body.ts'
import { type BodyOf, defineShape } from '../../shape.ts'

const SENIORITY = [
  'owner',
  'founder',
  'c_suite',
  'partner',
  'vp',
  'head',
  'director',
  'manager',
  'senior',
  'entry',
  'intern',
] as const

export const people = defineShape({
  body: {
    titles: words('Job titles; any of them matches').optional(),
    seniority: z
      .array(z.enum(SENIORITY))
      .min(1)
      .max(11)
      .describe('Levels of seniority; any of them matches')
      .optional(),
    company_domains: words('Domains of the companies that they work for').optional(),
    countries,
    keywords: words('Words in their profiles').optional(),
  },
  row: z.object({
    full_name: unmasked.min(1),
    title: z.string().nullable(),
    company: z.string().nullable(),
    domain: z.string().nullable(),
    linkedin_url: z.string().nullable(),
    location: z.string().nullable(),
  }),
})

export type PeopleSearch = BodyOf<typeof people.body>

export function checkPeopleSearch(body: PeopleSearch): FieldError[] {
  if (Object.values(body).some((value) => value !== undefined)) return []
  return [{ field: 'titles', message: 'required, unless another filter is given' }]
}
