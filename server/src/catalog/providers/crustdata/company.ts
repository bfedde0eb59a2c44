import { defineAdapter } from '../../provider/adapter.ts'
import { company, tellCompany } from '../../questions/company.ts'
import { type CompanyRecord, lookUpCompany } from './company-record.ts'
import { crustdata } from './provider.ts'

export const crustdataCompany = defineAdapter(company, crustdata, {
  price: 2,
  run: (ask, question) =>
    lookUpCompany(ask, question, (record) =>
      tellCompany({
        name: record.info.name,
        domain: record.info.primary_domain ?? record.info.website,
        description: record.info.description,
        industry: record.industry,
        employees: record.headcount?.total,
        revenue_range: printRevenue(record),
        founded: record.founded,
        hq: record.locations?.headquarters,
        linkedin_url: record.info.professional_network_url,
      }),
    ),
})

function printRevenue({ revenue }: CompanyRecord): string | null {
  const bounds = [revenue?.estimated?.lower_bound_usd, revenue?.estimated?.upper_bound_usd]
  const known = bounds.filter((bound) => typeof bound === 'number')
  return known.length === 0 ? null : known.map((bound) => `$${bound.toLocaleString('en')}`).join(' - ')
}
