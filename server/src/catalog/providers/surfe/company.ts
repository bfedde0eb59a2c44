import { z } from 'zod'
import { defineAdapter, MISS } from '../../provider/adapter.ts'
import { readYear, WireAmount, WireNumber, WireText } from '../../provider/wire-fields.ts'
import { company, tellCompany } from '../../questions/company.ts'
import { linkOf } from '../../questions/person.ts'
import { enrich } from './enrichment.ts'
import { surfe } from './provider.ts'

const Company = z.object({
  name: WireText,
  description: WireText,
  linkedInURL: WireText,
  websites: z.array(z.string()).nullish(),
  founded: WireAmount,
  revenue: WireText,
  employeeCount: WireNumber,
  industry: WireText,
  hqAddress: WireText,
  hqCountry: WireText,
})
const Reply = z.object({ status: z.string(), companies: z.array(Company).nullish() })

export const surfeCompany = defineAdapter(company, surfe, {
  price: 1,
  accepts: ({ domain }) => domain !== '',
  run: (ask, { domain }, { poll }) => {
    const json = { companies: [{ domain }] }
    return enrich(ask, { path: '/v2/companies/enrich', json, reply: Reply, poll }, ({ companies }) => {
      const [found] = companies ?? []
      if (found === undefined) return MISS
      return tellCompany({
        name: found.name,
        domain: found.websites?.[0] ?? domain,
        description: found.description,
        industry: found.industry,
        employees: found.employeeCount,
        revenue_range: found.revenue,
        founded: readYear(found.founded),
        hq: found.hqAddress || found.hqCountry,
        linkedin_url: linkOf(found.linkedInURL),
      })
    })
  },
})
