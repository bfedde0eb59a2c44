import { defineAdapter, hit } from '../../provider/adapter.ts'
import { linkedinCompany } from '../../questions/linkedin-company.ts'
import { lookUpCompany, yearOf } from './company-record.ts'
import { crustdata } from './provider.ts'

export const crustdataLinkedinCompany = defineAdapter(linkedinCompany, crustdata, {
  price: 1,
  run: (ask, { linkedin_url }) =>
    lookUpCompany(ask, { linkedin_url, domain: '', name: '' }, (record) =>
      hit({
        name: record.company_name,
        description: record.linkedin_company_description ?? null,
        industry: record.taxonomy?.linkedin_industries?.[0] ?? null,
        headcount: record.headcount?.linkedin_headcount ?? null,
        hq: record.headquarters ?? null,
        website: record.company_website ?? null,
        founded: yearOf(record),
        followers: record.linkedin_followers?.linkedin_followers ?? null,
        linkedin_url: record.linkedin_profile_url ?? linkedin_url,
      }),
    ),
})
