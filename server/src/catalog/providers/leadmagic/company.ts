import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { readAmount, readYear, WireAmount, WireText } from '../../provider/wire-fields.ts'
import { company, tellCompany } from '../../questions/company.ts'
import { linkOf } from '../../questions/person.ts'
import { placeOf } from '../../questions/place.ts'
import { leadmagic } from './provider.ts'

const Place = z.object({ city: WireText, state: WireText, country: WireText })
const Reply = z.object({
  companyName: WireText,
  description: WireText,
  industry: WireText,
  employeeCount: WireAmount,
  revenue: WireAmount,
  founded: WireAmount,
  headquarters: Place.nullish(),
  b2b_profile_url: WireText,
})

export const leadmagicCompany = defineAdapter(company, leadmagic, {
  price: 1,
  run: (ask, { domain, name, linkedin_url }) => {
    const json =
      domain !== ''
        ? { company_domain: domain }
        : linkedin_url !== ''
          ? { profile_url: linkedin_url }
          : { company_name: name }
    return ask({ method: 'POST', path: '/v1/companies/company-search', json }, Reply, (found) =>
      tellCompany({
        name: found.companyName,
        domain: domain || null,
        description: found.description,
        industry: found.industry,
        employees: readAmount(found.employeeCount),
        revenue_range: found.revenue ? String(found.revenue) : null,
        founded: readYear(found.founded),
        hq: placeOf(found.headquarters ?? {}),
        linkedin_url: linkOf(found.b2b_profile_url),
      }),
    )
  },
})
