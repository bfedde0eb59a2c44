import { z } from 'zod'
import { defineAdapter, MISS } from '../../provider/adapter.ts'
import { WireNumber, WireText } from '../../provider/wire-fields.ts'
import { company, tellCompany } from '../../questions/company.ts'
import { placeOf } from '../../questions/place.ts'
import { lusha } from './provider.ts'

const Company = z.object({
  name: WireText,
  domain: WireText,
  description: WireText,
  yearFounded: WireNumber,
  employeeCount: z.object({ exact: WireNumber }).nullish(),
  industry: WireText,
  location: z.object({ city: WireText, state: WireText, country: WireText }).nullish(),
  socialLinks: z.object({ linkedin: WireText }).nullish(),
  revenueRange: z.object({ min: WireNumber, max: WireNumber }).nullish(),
  error: z.object({ code: WireText }).nullish(),
})
const Reply = z.object({ results: z.array(Company) })

export const lushaCompany = defineAdapter(company, lusha, {
  price: 2,
  accepts: ({ domain, name }) => domain !== '' || name !== '',
  run: (ask, { domain, name }) => {
    const json = { companies: [domain === '' ? { name } : { domain }] }
    const request = { method: 'POST', path: '/v3/companies/search-and-enrich', json } as const
    return ask(request, Reply, ({ results: [found] }) => {
      if (found === undefined || found.error) return MISS
      const revenue = [found.revenueRange?.min, found.revenueRange?.max].filter(
        (bound) => typeof bound === 'number',
      )
      return tellCompany({
        name: found.name,
        domain: found.domain,
        description: found.description,
        industry: found.industry,
        employees: found.employeeCount?.exact,
        revenue_range: revenue.map((bound) => `$${bound.toLocaleString('en')}`).join(' - ') || null,
        founded: found.yearFounded,
        hq: placeOf(found.location ?? {}),
        linkedin_url: found.socialLinks?.linkedin,
      })
    })
  },
})
