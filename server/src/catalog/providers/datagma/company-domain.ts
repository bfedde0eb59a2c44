import { defineAdapter } from '../../provider/adapter.ts'
import { companyDomain, tellDomain } from '../../questions/company-domain.ts'
import { CompanyReply, FULL_PATH } from './full.ts'
import { datagma } from './provider.ts'

export const datagmaCompanyDomain = defineAdapter(companyDomain, datagma, {
  price: 2,
  run: (ask, { name }) =>
    ask({ path: FULL_PATH, query: { data: name } }, CompanyReply, ({ website }) => tellDomain(website)),
})
