import { z } from 'zod'
import type { FieldError } from '#contract/errors.ts'
import { companyFields, words } from '../../search-body.ts'
import { type BodyOf, defineShape } from '../../shape.ts'
import { people } from '../people/search.ts'

const searchUrl = (kind: 'company' | 'people') =>
  z
    .string()
    .trim()
    .max(10_000)
    .regex(
      new RegExp(`^https://(www\\.)?linkedin\\.com/sales/search/${kind}\\?\\S+$`, 'i'),
      `must be the URL of a search in Sales Navigator, such as https://www.linkedin.com/sales/search/${kind}?query=...`,
    )
    .describe('The URL of a search in Sales Navigator, copied from the address bar')
    .optional()

const HEADCOUNTS = [
  'Self-employed',
  '1-10',
  '11-50',
  '51-200',
  '201-500',
  '501-1,000',
  '1,001-5,000',
  '5,001-10,000',
  '10,001+',
] as const

const commonFilters = {
  location: words('Regions, as spelled in the options of `location`').optional(),
  industries: words('Industries; any of them matches').optional(),
  company_headcount: z
    .array(z.enum(HEADCOUNTS))
    .min(1)
    .max(HEADCOUNTS.length)
    .describe('Sizes of the company')
    .optional(),
  keywords: words('Words that must occur').optional(),
}

/** The names of Sales Navigator for our fields. */
const FILTERS = {
  location: 'REGION',
  industries: 'INDUSTRY',
  company_headcount: 'COMPANY_HEADCOUNT',
  keywords: 'KEYWORD',
} as const

/** The filters of companies. The location of a company is that of its headquarters. */
export const COMPANY_FILTERS = { ...FILTERS, company_headquarters: FILTERS.location } as const

export const PEOPLE_FILTERS = {
  ...FILTERS,
  company_headquarters: 'COMPANY_HEADQUARTERS',
  titles: 'CURRENT_TITLE',
  companies: 'CURRENT_COMPANY',
  seniority: 'SENIORITY_LEVEL',
} as const

const filters = <Fields extends z.ZodRawShape>(fields: Fields) =>
  z.strictObject(fields).describe('The filters of the search, instead of search_url').optional()

export const savedCompanies = defineShape({
  body: {
    search_url: searchUrl('company'),
    filters: filters({
      ...commonFilters,
      company_headquarters: words('Same as location').optional(),
    }),
  },
  row: z.object(companyFields),
})

export const savedPeople = defineShape({
  body: {
    search_url: searchUrl('people'),
    filters: filters({
      ...commonFilters,
      company_headquarters: words('Regions of the headquarters of their companies').optional(),
      titles: words('Current titles; any of them matches').optional(),
      companies: words('Names of their current companies').optional(),
      seniority: words('Levels, as Sales Navigator spells them: "CXO", "Vice President"').optional(),
    }),
  },
  row: people.row,
})

export type SavedSearch = BodyOf<typeof savedCompanies.body> | BodyOf<typeof savedPeople.body>

export function checkSavedCompanies(body: BodyOf<typeof savedCompanies.body>): FieldError[] {
  const { location, company_headquarters: alias } = body.filters ?? {}
  if (location === undefined || alias === undefined) return checkSavedSearch(body)
  const message = 'is the same as location; give one of them'
  return [...checkSavedSearch(body), { field: 'filters.company_headquarters', message }]
}

export function checkSavedSearch({ search_url, filters: given }: SavedSearch): FieldError[] {
  const hasFilters = given !== undefined && Object.values(given).some((value) => value !== undefined)
  if (search_url !== undefined && given !== undefined)
    return [{ field: 'filters', message: 'give search_url or filters, not both' }]
  if (search_url === undefined && !hasFilters)
    return [{ field: 'search_url', message: 'required, unless filters has at least one filter' }]
  return []
}
