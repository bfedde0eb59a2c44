import { z } from 'zod'
import { type AdapterAsk, type Found, MISS } from '../../provider/adapter.ts'
import { readYear, WireAmount, WireNumber, WireText } from '../../provider/wire-fields.ts'
import type { CompanyQuestion } from '../../questions/company.ts'
import { enrich } from './matches.ts'

const Amounts = z.record(z.string(), z.number().nullable()).nullish()
const Shape = z.object({
  basic_info: z.object({
    name: WireText,
    description: WireText,
    website: WireText,
    primary_domain: WireText,
    year_founded: WireAmount,
    industries: z.array(z.string()).nullish(),
    professional_network_url: WireText,
  }),
  headcount: z
    .object({
      total: WireNumber,
      by_role_absolute: Amounts,
      by_role_percent: Amounts,
      by_region_absolute: Amounts,
      by_region_percent: Amounts,
    })
    .nullish(),
  revenue: z
    .object({ estimated: z.object({ lower_bound_usd: WireNumber, upper_bound_usd: WireNumber }).nullish() })
    .nullish(),
  locations: z.object({ headquarters: WireText }).nullish(),
  taxonomy: z.object({ professional_network_industry: WireText }).nullish(),
  followers: z.object({ count: WireNumber }).nullish(),
})
type Wire = z.output<typeof Shape>
export type CompanyRecord = Omit<Wire, 'basic_info'> & {
  info: Wire['basic_info'] & { name: string }
  industry: string | null
  founded: number | null
}

const FIELDS = ['basic_info', 'headcount', 'revenue', 'locations', 'taxonomy', 'followers']

/** Looks a company up by the most certain known detail: its domain, its page, its name. */
export function lookUpCompany<Result>(
  ask: AdapterAsk,
  { domain, linkedin_url, name }: CompanyQuestion,
  read: (record: CompanyRecord) => Found<Result>,
): Promise<Found<Result>> {
  const by =
    domain !== ''
      ? { domains: [domain] }
      : linkedin_url !== ''
        ? { professional_network_profile_urls: [linkedin_url] }
        : { names: [name] }
  return enrich(ask, { path: '/company/enrich', by, fields: FIELDS, data: Shape }, (data) => {
    const { basic_info: info, ...record } = data
    if (!info.name) return MISS
    return read({
      ...record,
      info: { ...info, name: info.name },
      industry: record.taxonomy?.professional_network_industry ?? info.industries?.[0] ?? null,
      founded: readYear(info.year_founded),
    })
  })
}
