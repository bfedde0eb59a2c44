import { defineAdapter, hit } from '../../provider/adapter.ts'
import { linkedinCompany } from '../../questions/linkedin-company.ts'
import { lookUpCompany } from './company-record.ts'
import { crustdata } from './provider.ts'

export const crustdataLinkedinCompany = defineAdapter(linkedinCompany, crustdata, {
  price: 1,
  run: (ask, { linkedin_url }) =>
    lookUpCompany(ask, { linkedin_url, domain: '', name: '' }, (record) =>
      hit({
        name: record.info.name,
        description: record.info.description ?? null,
        industry: record.industry,
        headcount: record.headcount?.total ?? null,
        hq: record.locations?.headquarters ?? null,
        website: record.info.website ?? null,
        founded: record.founded,
        followers: record.followers?.count ?? null,
        linkedin_url: record.info.professional_network_url ?? linkedin_url,
      }),
    ),
})
