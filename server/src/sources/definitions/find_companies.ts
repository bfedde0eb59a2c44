import { defineSource } from '../define.ts'
import { apolloCompanies } from '../systems/companies/apollo.ts'
import { crustdataCompanies } from '../systems/companies/crustdata.ts'
import { exploriumCompanies } from '../systems/companies/explorium.ts'
import { checkCompanySearch, companies } from '../systems/companies/search.ts'

export default defineSource({
  slug: 'find_companies',
  name: 'Find companies',
  description:
    'Companies by what they do, where, how large and how old they are: by Apollo, Explorium or Crustdata.',
  mode: 'once',
  shape: companies,
  check: checkCompanySearch,
  pulls: [apolloCompanies, exploriumCompanies, crustdataCompanies],
})
