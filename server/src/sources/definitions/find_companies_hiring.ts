import { defineSource } from '../define.ts'
import { boardHiring } from '../systems/boards/jobs.ts'
import { hiringCompanies, theirstackHiring } from '../systems/theirstack/companies.ts'

export default defineSource({
  slug: 'find_companies_hiring',
  name: 'Find companies that hire',
  description: 'Companies with open postings for given job titles: by TheirStack, or on given job boards.',
  mode: 'once',
  shape: hiringCompanies,
  pulls: [theirstackHiring, boardHiring],
})
