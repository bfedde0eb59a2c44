import { apolloCompanies } from '../companies/apollo.ts'
import { crustdataCompanies } from '../companies/crustdata.ts'
import { exploriumCompanies } from '../companies/explorium.ts'
import { checkCompanySearch, companies } from '../companies/search.ts'
import { defineSource } from '../define.ts'

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
