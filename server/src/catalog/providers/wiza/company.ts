import { z } from 'zod'
import { defineAdapter, MISS } from '../../provider/adapter.ts'
import { readAmount, readYear, WireAmount, WireText } from '../../provider/wire-fields.ts'
import { company, tellCompany } from '../../questions/company.ts'
import { linkOf } from '../../questions/person.ts'
import { wiza } from './provider.ts'

const Data = z.object({
  company_name: WireText,
  company_domain: WireText,
  domain: WireText,
  company_description: WireText,
  company_industry: WireText,
  company_size: WireAmount,
  company_founded: WireAmount,
  company_revenue_range: WireText,
  company_ticker: WireText,
  company_location: WireText,
  company_linkedin: WireText,
})
const Reply = z.object({ data: Data.nullish() })

export const wizaCompany = defineAdapter(company, wiza, {
  price: 1,
  run: (ask, { domain, name, linkedin_url }) => {
    const slug = /linkedin\.com\/company\/([^/?#]+)/i.exec(linkedin_url)?.[1]
    const json =
      domain !== ''
        ? { company_domain: domain }
        : slug === undefined
          ? { company_name: name }
          : { company_linkedin_slug: slug }
    return ask({ method: 'POST', path: '/api/company_enrichments', json }, Reply, ({ data }) =>
      !data
        ? MISS
        : tellCompany({
            name: data.company_name,
            domain: data.company_domain ?? data.domain,
            description: data.company_description,
            industry: data.company_industry,
            employees: readAmount(data.company_size),
            revenue_range: data.company_revenue_range,
            founded: readYear(data.company_founded),
            hq: data.company_location,
            ticker: data.company_ticker,
            linkedin_url: linkOf(data.company_linkedin),
          }),
    )
  },
})
