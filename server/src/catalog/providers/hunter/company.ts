import { z } from 'zod'
import { defineAdapter, MISS } from '../../provider/adapter.ts'
import { readYear, WireAmount, WireNumber, WireText } from '../../provider/wire-fields.ts'
import { company, tellCompany } from '../../questions/company.ts'
import { placeOf } from '../../questions/place.ts'
import { hunter } from './provider.ts'

const Data = z.object({
  name: WireText,
  domain: WireText,
  description: WireText,
  category: z.object({ industry: WireText }).nullish(),
  metrics: z
    .object({ employees: z.unknown(), annualRevenue: WireNumber, estimatedAnnualRevenue: WireText })
    .nullish(),
  foundedYear: WireAmount,
  location: WireText,
  geo: z.object({ city: WireText, state: WireText, country: WireText }).nullish(),
  linkedin: z.object({ handle: WireText }).nullish(),
  ticker: WireText,
})
const Reply = z.object({ data: Data.nullish() })

export const hunterCompany = defineAdapter(company, hunter, {
  // Hunter charges nothing for it.
  price: 0,
  accepts: ({ domain }) => domain !== '',
  run: (ask, { domain }) =>
    ask({ path: '/v2/companies/find', query: { domain } }, Reply, ({ data }) => {
      if (!data) return MISS
      // For most companies Hunter knows only a range.
      const employees = data.metrics?.employees
      const { annualRevenue, estimatedAnnualRevenue } = data.metrics ?? {}
      const handle = data.linkedin?.handle
      return tellCompany({
        name: data.name,
        domain: data.domain ?? domain,
        description: data.description,
        industry: data.category?.industry,
        employees: typeof employees === 'number' ? employees : null,
        revenue_range: annualRevenue ? String(annualRevenue) : estimatedAnnualRevenue,
        founded: readYear(data.foundedYear),
        hq: data.location || placeOf(data.geo ?? {}),
        ticker: data.ticker,
        linkedin_url: handle
          ? `https://www.linkedin.com/${handle.replace(/^(?!company\/)/, 'company/')}`
          : null,
      })
    }),
})
