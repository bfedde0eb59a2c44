import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { WireNumber, WireText } from '../../provider/wire-fields.ts'
import { company } from '../../questions/company.ts'
import { placeOf } from '../../questions/place.ts'
import { apollo } from './provider.ts'

const Reply = z.object({
  organization: z
    .object({
      name: WireText,
      short_description: WireText,
      industry: WireText,
      estimated_num_employees: WireNumber,
      annual_revenue_printed: WireText,
      founded_year: WireNumber,
      city: WireText,
      state: WireText,
      country: WireText,
      publicly_traded_symbol: WireText,
      linkedin_url: WireText,
    })
    .nullish(),
})

export const apolloCompany = defineAdapter(company, apollo, {
  price: 1,
  accepts: ({ domain }) => domain !== '',
  run: (ask, { domain }) =>
    ask({ path: '/api/v1/organizations/enrich', query: { domain } }, Reply, ({ organization: found }) => {
      if (!found?.name) return MISS
      return hit({
        name: found.name,
        description: found.short_description ?? null,
        industry: found.industry ?? null,
        employees: found.estimated_num_employees ?? null,
        revenue_range: found.annual_revenue_printed ?? null,
        founded: found.founded_year ?? null,
        hq: placeOf(found),
        ticker: found.publicly_traded_symbol ?? null,
        linkedin_url: found.linkedin_url ?? null,
      })
    }),
})
