import { defineAction } from '../define.ts'
import { headcountBy } from '../waterfalls/headcount.ts'

export default defineAction({
  id: 'company_headcount_distribution_by_country',
  name: 'Company headcount by country',
  description: 'Tells how many people work at a company, and how they are spread over countries.',
  category: 'companies',
  ...headcountBy('country'),
})
