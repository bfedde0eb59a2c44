import { z } from 'zod'
import type { FieldError } from '#contract/errors.ts'
import { companyFields, countries, words } from '../../search-body.ts'
import { type BodyOf, defineShape } from '../../shape.ts'

const Headcount = z.int().min(1).max(10_000_000)

export const companies = defineShape({
  body: {
    keywords: words('Words that describe the company; any of them matches').optional(),
    industries: words('Industries; any of them matches').optional(),
    countries,
    employees_min: Headcount.describe('Minimum number of employees').optional(),
    employees_max: Headcount.describe('Maximum number of employees').optional(),
    technologies: words('Technologies that the company uses; any of them matches').optional(),
    founded_after: z.int().min(1500).max(2100).describe('Founded after this year').optional(),
  },
  row: z.object(companyFields),
})

export type CompanySearch = BodyOf<typeof companies.body>

/** Requires at least one filter. A search for everything would spend credits on arbitrary companies. */
export function checkCompanySearch(body: CompanySearch): FieldError[] {
  const { employees_min: min, employees_max: max } = body
  if (min !== undefined && max !== undefined && min > max)
    return [{ field: 'employees_min', message: 'must not be greater than employees_max' }]
  if (Object.values(body).some((value) => value !== undefined)) return []
  return [{ field: 'keywords', message: 'required, unless another filter is given' }]
}

const names = new Intl.DisplayNames(['en'], { type: 'region' })

/** Returns the English name of a country, for providers that know no codes. */
export const countryName = (code: string): string => names.of(code) ?? code
