import { defineAdapter } from '../../provider/adapter.ts'
import { company, tellCompany } from '../../questions/company.ts'
import { linkOf } from '../../questions/person.ts'
import { CompanyReply, companyRequest } from './company-record.ts'
import { peopledatalabs } from './provider.ts'

export const peopledatalabsCompany = defineAdapter(company, peopledatalabs, {
  price: 2,
  run: (ask, question) =>
    ask(companyRequest(question), CompanyReply, (found) =>
      tellCompany({
        name: found.display_name || found.name,
        domain: found.website,
        description: found.summary,
        industry: found.industry,
        employees: found.employee_count,
        revenue_range: found.inferred_revenue,
        founded: found.founded,
        hq: found.location?.name,
        ticker: found.ticker,
        linkedin_url: linkOf(found.linkedin_url),
      }),
    ),
})
