import { defineSource } from '../define.ts'
import { boardHiring } from '../systems/boards/jobs.ts'
import { hiringCompanies, theirstackHiring } from '../systems/theirstack/companies.ts'

export default defineSource({
  slug: 'find_companies_hiring',
  name: 'Find companies that hire',
  description:
    'Companies with open postings for some titles: by TheirStack, or on job boards that are named.',
  mode: 'once',
  shape: hiringCompanies,
  pulls: [theirstackHiring, boardHiring],
})
