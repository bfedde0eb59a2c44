import { z } from 'zod'
import { defineAdapter, hit, MISS } from '../../provider/adapter.ts'
import { company } from '../../questions/company.ts'
import { placeOf } from '../../questions/place.ts'
import { apollo } from './provider.ts'

const Text = z.string().nullish()
const Reply = z.object({
  organization: z
    .object({
      name: Text,
      short_description: Text,
      industry: Text,
      estimated_num_employees: z.number().nullish(),
      annual_revenue_printed: Text,
      founded_year: z.number().nullish(),
      city: Text,
      state: Text,
      country: Text,
      publicly_traded_symbol: Text,
      linkedin_url: Text,
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
