import { z } from 'zod'

// Evidence: TheirStack's API reference (jobs/search, companies/search) and public clients of it, read November 2026.

export const Text = z.string().nullish()
export const Amount = z.number().nullish()
export const Metadata = z.object({ total_results: z.number().nullish() }).nullish()

export function readTotal(metadata: z.output<typeof Metadata>): { total?: number } {
  const total = metadata?.total_results ?? null
  return total === null ? {} : { total }
}

export const Company = z.object({
  name: z.string(),
  domain: Text,
  industry: Text,
  employee_count: Amount,
  country_code: Text,
  linkedin_url: Text,
  num_jobs: Amount,
})

export const companyRow = (company: z.output<typeof Company>) => ({
  name: company.name,
  domain: company.domain ?? null,
  industry: company.industry ?? null,
  employees: company.employee_count ?? null,
  country: company.country_code ?? null,
  linkedin_url: company.linkedin_url ?? null,
})

/** Returns the key of a company: its domain, or its name. */
export const companyKey = ({ domain, name }: z.output<typeof Company>): string =>
  domain ?? `name ${name.toLowerCase()}`

/** The position. Pages are counted from 0. Each record costs a credit, so no more are requested than wanted. */
export const PageState = z.object({ page: z.int().min(0), size: z.int().min(1) })
export const MAX_PAGE = 100

/** Returns the page to read. All pages of a walk have the same size: another size would skip or repeat records. */
export function pageOf(state: z.output<typeof PageState> | null, limit: number): z.output<typeof PageState> {
  return state ?? { page: 0, size: Math.min(limit, MAX_PAGE) }
}

export function nextPage(at: z.output<typeof PageState>, count: number): z.output<typeof PageState> | null {
  return count < at.size ? null : { ...at, page: at.page + 1 }
}
