import { z } from 'zod'
import { defineAdapter, MISS } from '../../provider/adapter.ts'
import { WireNumber, WireText } from '../../provider/wire-fields.ts'
import { company, tellCompany } from '../../questions/company.ts'
import { placeOf } from '../../questions/place.ts'
import { apollo } from './provider.ts'

const Reply = z.object({
  organization: z
    .object({
      name: WireText,
      primary_domain: WireText,
      website_url: WireText,
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
    ask({ path: '/api/v1/organizations/enrich', query: { domain } }, Reply, ({ organization: found }) =>
      !found
        ? MISS
        : tellCompany({
            name: found.name,
            domain: found.primary_domain ?? found.website_url,
            description: found.short_description,
            industry: found.industry,
            employees: found.estimated_num_employees,
            revenue_range: found.annual_revenue_printed,
            founded: found.founded_year,
            hq: placeOf(found),
            ticker: found.publicly_traded_symbol,
            linkedin_url: found.linkedin_url,
          }),
    ),
})
