import { defineSource } from '../define.ts'
import { crustdataSavedPeople } from '../systems/sales-navigator/crustdata.ts'
import { regions } from '../systems/sales-navigator/options.ts'
import { checkSavedSearch, savedPeople } from '../systems/sales-navigator/search.ts'

export default defineSource({
  slug: 'find_people_from_sales_navigator',
  name: 'Find people by Sales Navigator',
  description: 'People found by a Sales Navigator search, given by its URL or by filters: by Crustdata.',
  mode: 'once',
  shape: savedPeople,
  check: checkSavedSearch,
  pulls: [crustdataSavedPeople],
  options: { location: regions, company_headquarters: regions },
})
