import { z } from 'zod'
import { type AdapterAsk, type Found, MISS } from '../../provider/adapter.ts'
import { WireNumber, WireText } from '../../provider/wire-fields.ts'
import type { CompanyQuestion } from '../../questions/company.ts'

const Amounts = z.record(z.string(), z.number().nullable()).nullish()
const Shape = z.object({
  company_name: WireText,
  linkedin_company_description: WireText,
  linkedin_profile_url: WireText,
  company_website: WireText,
  headquarters: WireText,
  year_founded: z.union([z.string(), z.number()]).nullish(),
  estimated_revenue_lower_bound_usd: WireNumber,
  estimated_revenue_higher_bound_usd: WireNumber,
  stock_symbols: z.array(z.string()).nullish(),
  taxonomy: z.object({ linkedin_industries: z.array(z.string()).nullish() }).nullish(),
  linkedin_followers: z.object({ linkedin_followers: WireNumber }).nullish(),
  headcount: z
    .object({
      linkedin_headcount: WireNumber,
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
