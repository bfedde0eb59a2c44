import { defineAction } from '../define.ts'
import { output } from '../outputs.ts'
import { LINKEDIN_COMPANY_READERS } from '../waterfalls/linkedin-company.ts'
import { linkedinProfile } from '../waterfalls/linkedin-profile.ts'

export default defineAction({
  id: 'enrich_company_linkedin_profile',
  name: 'Enrich LinkedIn company page',
  description: 'Reads the LinkedIn page of a company.',
  category: 'companies',
  synonyms: ['company page', 'followers', 'employees', 'headcount', 'extract'],
  ...linkedinProfile(LINKEDIN_COMPANY_READERS, {
    address: {
      label: 'Company LinkedIn page',
      help: 'The page to read.',
      placeholder: 'https://www.linkedin.com/company/acme',
    },
  }),
  outputs: {
    name: output.text('The name.'),
    description: output.text('The description of the company.'),
    industry: output.text('Its industry.'),
    headcount: output.number('The number of employees.'),
    hq: output.text('Its headquarters.'),
    website: output.url('Its website.'),
    founded: output.number('The year.'),
    followers: output.number('The number of followers.'),
    linkedin_url: output.url('Its page.'),
    provider: output.text('The provider that answered.'),
  },
})
