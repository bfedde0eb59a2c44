import { z } from 'zod'
import { defineAdapter, MISS } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { company, tellCompany } from '../../questions/company.ts'
import { linkOf } from '../../questions/person.ts'
import { placeOf } from '../../questions/place.ts'
import { matchBusiness } from './business.ts'
import { explorium } from './provider.ts'

const Reply = z.object({
  data: z
    .object({
      name: WireText,
      website: WireText,
      business_description: WireText,
      linkedin_industry_category: WireText,
      naics_description: WireText,
      yearly_revenue_range: WireText,
      ticker: WireText,
      city_name: WireText,
      region_name: WireText,
      country_name: WireText,
      linkedin_profile: WireText,
    })
    .nullish(),
})

/** Reads a company. Explorium returns ranges of employees, never a number. */
export const exploriumCompany = defineAdapter(company, explorium, {
  price: 2,
  async run(ask, question) {
    const match = await matchBusiness(ask, question)
    if ('kind' in match) return match
    const request = { method: 'POST', path: '/v1/businesses/firmographics/enrich', json: match } as const
    return ask(request, Reply, ({ data }) => {
      if (!data) return MISS
      const place = { city: data.city_name, state: data.region_name, country: data.country_name }
      return tellCompany({
        name: data.name,
        domain: data.website,
        description: data.business_description,
        industry: data.linkedin_industry_category ?? data.naics_description,
        revenue_range: data.yearly_revenue_range,
        hq: placeOf(place),
        ticker: data.ticker,
        linkedin_url: linkOf(data.linkedin_profile),
      })
    })
  },
})
