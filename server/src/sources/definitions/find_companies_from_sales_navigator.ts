import { defineSource } from '../define.ts'
import { crustdataSavedCompanies } from '../systems/sales-navigator/crustdata.ts'
import { regions } from '../systems/sales-navigator/options.ts'
import { checkSavedCompanies, savedCompanies } from '../systems/sales-navigator/search.ts'

export default defineSource({
  slug: 'find_companies_from_sales_navigator',
  name: 'Find companies by Sales Navigator',
  description: 'Companies found by a Sales Navigator search, given by its URL or by filters: by Crustdata.',
  mode: 'once',
  shape: savedCompanies,
  check: checkSavedCompanies,
  pulls: [crustdataSavedCompanies],
  options: { location: regions, company_headquarters: regions },
})
