import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { readAmount, WireAmount, WireText } from '../../provider/wire-fields.ts'
import { company, tellCompany } from '../../questions/company.ts'
import { findymail } from './provider.ts'

const Reply = z.object({
  name: WireText,
  domain: WireText,
  company_size: WireAmount,
  industry: WireText,
  linkedin_url: WireText,
})

export const findymailCompany = defineAdapter(company, findymail, {
  price: 1,
  run: (ask, { domain, name, linkedin_url }) => {
    const json = domain !== '' ? { domain } : linkedin_url !== '' ? { linkedin_url } : { name }
    return ask({ method: 'POST', path: '/api/search/company', json }, Reply, ({ company_size, ...found }) =>
      tellCompany({ ...found, employees: readAmount(company_size) }),
    )
  },
})
