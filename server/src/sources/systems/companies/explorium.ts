import { z } from 'zod'
import type { Ask } from '../../../catalog/provider/adapter.ts'
import { explorium } from '../../../catalog/providers/explorium/provider.ts'
import { definePull } from '../../pull.ts'
import { companies, type CompanySearch } from './search.ts'

// Evidence: Explorium's reference of POST /v1/businesses and public clients: filters of values, page, page_size, size, data[].
const Text = z.string().nullish()
const Business = z.object({
  business_id: z.string(),
  name: z.string(),
  domain: Text,
  website: Text,
  linkedin_industry_category: Text,
  naics_description: Text,
  country_name: Text,
  linkedin_profile: Text,
})
const Reply = z.object({
  data: z.array(Business),
  total_results: z.number().nullish(),
  total_pages: z.number().nullish(),
})
const MAX_PAGE = 100
/** The maximum number of results that Explorium pages through. */
const MAX_RESULTS = 10_000

export const ExploriumPage = z.object({ page: z.int().min(1), size: z.int().min(1) })
type At = z.output<typeof ExploriumPage>

export const firstPage = (limit: number): At => ({ page: 1, size: Math.min(limit, MAX_PAGE) })

type Found = { id: string; row: z.output<typeof companies.row> }

/** Reads one page of businesses and passes on where the next page is. */
export function fetchBusinesses<Out>(
  ask: Ask,
  filters: Record<string, unknown>,
  { page, size }: At,
  read: (found: Found[], next: At | null, total: number | null) => Out,
) {
  const json = { mode: 'full', filters, page, page_size: size, size: MAX_RESULTS }
  return ask(
    { method: 'POST', path: '/v1/businesses', json },
    Reply,
    ({ data, total_results, total_pages }) => {
      const isLast = data.length < size || page >= (total_pages ?? Infinity) || page * size >= MAX_RESULTS
      return read(data.map(toFound), isLast ? null : { page: page + 1, size }, total_results ?? null)
    },
  )
}

/** Converts a business. Explorium reports ranges of employees, never their number. */
const toFound = (one: z.output<typeof Business>): Found => ({
  id: one.business_id,
  row: {
    name: one.name,
    domain: one.domain ?? URL.parse(one.website ?? '')?.hostname.replace(/^www\./, '') ?? null,
    industry: one.linkedin_industry_category ?? one.naics_description ?? null,
    employees: null,
    country: one.country_name ?? null,
    linkedin_url: one.linkedin_profile ?? null,
  },
})

export const exploriumCompanies = definePull(companies, explorium, {
  price: 0.5,
  state: ExploriumPage,
  pull({ body, state, limit, ask, context }) {
    const filters = filtersOf(body, context.now().getUTCFullYear())
    return fetchBusinesses(ask, filters, state ?? firstPage(limit), (found, next, total) => ({
      records: found.map(({ id, row }) => ({ key: id, row })),
      next,
      ...(total === null ? {} : { total, capped: next === null && total > MAX_RESULTS }),
    }))
  },
})

const SIZES = [1, 11, 51, 201, 501, 1001, 5001, 10_001]
const AGES = [0, 3, 6, 10, 20]

function filtersOf(body: CompanySearch, year: number): Record<string, unknown> {
  const { employees_min: min, employees_max: max, founded_after } = body
  const lists = {
    country_code: body.countries?.map((code) => code.toLowerCase()),
    linkedin_category: body.industries?.map((name) => name.toLowerCase()),
    company_tech_stack_tech: body.technologies,
    company_size:
      min === undefined && max === undefined ? undefined : rangesOf(SIZES, min ?? 1, max ?? Infinity),
    company_age: founded_after === undefined ? undefined : agesBelow(year - founded_after),
  }
  const described =
    body.keywords === undefined ? {} : { website_keywords: { values: body.keywords, operator: 'or' } }
  const listed = Object.fromEntries(
    Object.entries(lists).flatMap(([name, values]) => (values === undefined ? [] : [[name, { values }]])),
  )
  return { ...listed, ...described }
}

/** Returns every range that overlaps the wanted one: `51-200`, `10001+`. */
function rangesOf(starts: readonly number[], min: number, max: number): string[] {
  return starts.flatMap((start, n) => {
    const end = (starts[n + 1] ?? Infinity) - 1
    if (end < min || start > max) return []
    return [end === Infinity ? `${start}+` : `${start}-${end}`]
  })
}

/** Returns the ranges up to an age in years: `0-3`, `3-6`, ... */
function agesBelow(age: number): string[] {
  return AGES.flatMap((start, n) => {
    const end = AGES[n + 1]
    if (start > 0 && start >= age) return []
    return [end === undefined ? `${start}+` : `${start}-${end}`]
  })
}
