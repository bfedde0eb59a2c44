import { z } from 'zod'
import type { FieldError } from '#contract/errors.ts'
import { companyFields, countries, words } from '../../search-body.ts'
import { type BodyOf, defineShape } from '../../shape.ts'

const Headcount = z.int().min(1).max(10_000_000)

export const companies = defineShape({
  body: {
    keywords: words('Words that describe the company, any of them').optional(),
    industries: words('Industries, any of them').optional(),
    countries,
    employees_min: Headcount.describe('Employees, at least').optional(),
    employees_max: Headcount.describe('Employees, at most').optional(),
    technologies: words('Technologies that the company uses, any of them').optional(),
    founded_after: z.int().min(1500).max(2100).describe('Founded after this year').optional(),
  },
  row: z.object(companyFields),
})

export type CompanySearch = BodyOf<typeof companies.body>

/** A search for everything would spend credits on whatever comes first. */
export function checkCompanySearch(body: CompanySearch): FieldError[] {
  const { employees_min: min, employees_max: max } = body
  if (min !== undefined && max !== undefined && min > max)
    return [{ field: 'employees_min', message: 'must not be greater than employees_max' }]
  if (Object.values(body).some((value) => value !== undefined)) return []
  return [{ field: 'keywords', message: 'required; or give another filter' }]
}

const names = new Intl.DisplayNames(['en'], { type: 'region' })

/** Some providers know countries by their English names only. */
export const countryName = (code: string): string => names.of(code) ?? code
