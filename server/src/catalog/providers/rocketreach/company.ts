import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { readAmount, readYear, WireAmount, WireText } from '../../provider/wire-fields.ts'
import { company, tellCompany } from '../../questions/company.ts'
import { placeOf } from '../../questions/place.ts'
import { rocketreach } from './provider.ts'

const Reply = z.object({
  name: WireText,
  domain: WireText,
  website_domain: WireText,
  description: WireText,
  industry: WireText,
  industries: z.array(z.string()).nullish(),
  num_employees: WireAmount,
  revenue: WireAmount,
  year_founded: WireAmount,
  ticker_symbol: WireText,
  address: z.object({ city: WireText, region: WireText, country: WireText }).nullish(),
  links: z.object({ linkedin: WireText }).nullish(),
})

export const rocketreachCompany = defineAdapter(company, rocketreach, {
  price: 2,
  run: (ask, { domain, name, linkedin_url }) => {
    const query = domain !== '' ? { domain } : linkedin_url !== '' ? { linkedin_url } : { name }
    return ask({ path: '/api/v2/company/lookup/', query }, Reply, (found) =>
      tellCompany({
        name: found.name,
        domain: found.website_domain ?? found.domain,
        description: found.description,
        industry: found.industry ?? found.industries?.[0],
        employees: readAmount(found.num_employees),
        revenue_range: found.revenue ? String(found.revenue) : null,
        founded: readYear(found.year_founded),
        hq: placeOf({ ...found.address, state: found.address?.region }),
        ticker: found.ticker_symbol,
        linkedin_url: found.links?.linkedin,
      }),
    )
  },
})
