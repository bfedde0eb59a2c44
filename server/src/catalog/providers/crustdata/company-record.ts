import { z } from 'zod'
import { type AdapterAsk, type Found, MISS } from '../../provider/adapter.ts'
import type { CompanyQuestion } from '../../questions/company.ts'

const Text = z.string().nullish()
const Amount = z.number().nullish()
const Amounts = z.record(z.string(), z.number().nullable()).nullish()
const Shape = z.object({
  company_name: Text,
  linkedin_company_description: Text,
  linkedin_profile_url: Text,
  company_website: Text,
  headquarters: Text,
  year_founded: z.union([z.string(), z.number()]).nullish(),
  estimated_revenue_lower_bound_usd: Amount,
  estimated_revenue_higher_bound_usd: Amount,
  stock_symbols: z.array(z.string()).nullish(),
  taxonomy: z.object({ linkedin_industries: z.array(z.string()).nullish() }).nullish(),
  linkedin_followers: z.object({ linkedin_followers: Amount }).nullish(),
  headcount: z
    .object({
      linkedin_headcount: Amount,
      linkedin_headcount_by_role_absolute: Amounts,
      linkedin_headcount_by_role_percent: Amounts,
      linkedin_headcount_by_region_absolute: Amounts,
      linkedin_headcount_by_region_percent: Amounts,
    })
    .nullish(),
})
export type CompanyRecord = z.output<typeof Shape>

/** Looks a company up by the surest of what is known: its domain, its page, its name. */
export function lookUpCompany<Result>(
  ask: AdapterAsk,
  { domain, linkedin_url, name }: CompanyQuestion,
  read: (record: CompanyRecord & { company_name: string }) => Found<Result>,
): Promise<Found<Result>> {
  const query =
    domain !== ''
      ? { company_domain: domain }
      : linkedin_url !== ''
        ? { company_linkedin_url: linkedin_url }
        : { company_name: name }
  return ask({ path: '/screener/company', query }, z.array(Shape), ([record]) =>
    record?.company_name ? read({ ...record, company_name: record.company_name }) : MISS,
  )
}

export function yearOf({ year_founded }: CompanyRecord): number | null {
  const year = Number(String(year_founded ?? '').slice(0, 4))
  return year > 0 ? year : null
}
