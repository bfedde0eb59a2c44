import { defineAction } from '../define.ts'
import { headcountBy } from '../waterfalls/headcount.ts'

export default defineAction({
  id: 'company_headcount_distribution_by_country',
  name: 'Company headcount by country',
  description: 'Company headcount, with the distribution by country.',
  category: 'companies',
  synonyms: ['employees', 'company size', 'offices', 'locations'],
  ...headcountBy('country'),
})
