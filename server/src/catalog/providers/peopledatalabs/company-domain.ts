import { defineAdapter } from '../../provider/adapter.ts'
import { companyDomain, tellDomain } from '../../questions/company-domain.ts'
import { CompanyReply, companyRequest } from './company-record.ts'
import { peopledatalabs } from './provider.ts'

export const peopledatalabsCompanyDomain = defineAdapter(companyDomain, peopledatalabs, {
  price: 2,
  run: (ask, { name }) =>
    ask(companyRequest({ name, domain: '', linkedin_url: '' }, 'website'), CompanyReply, ({ website }) =>
      tellDomain(website),
    ),
})
