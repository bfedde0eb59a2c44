import { defineAdapter } from '../../provider/adapter.ts'
import { readAmount, readYear } from '../../provider/wire-fields.ts'
import { company, tellCompany } from '../../questions/company.ts'
import { CompanyReply, FULL_PATH } from './full.ts'
import { datagma } from './provider.ts'

export const datagmaCompany = defineAdapter(company, datagma, {
  price: 2,
  run: (ask, { domain, name, linkedin_url }) => {
    const query = { data: domain || linkedin_url || name, companyPremium: true }
    return ask({ path: FULL_PATH, query }, CompanyReply, (found) =>
      tellCompany({
        name: found.name,
        domain: found.website,
        description: found.shortDescription,
        industry: [found.industries].flat()[0],
        employees: readAmount(found.companySize),
        revenue_range: found.revenueRange,
        founded: readYear(found.founded),
        hq: found.headquarters,
        linkedin_url: linkedin_url || null,
      }),
    )
  },
})
