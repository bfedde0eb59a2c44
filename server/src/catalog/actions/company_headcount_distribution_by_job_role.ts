import { defineAction } from '../define.ts'
import { headcountBy } from '../waterfalls/headcount.ts'

export default defineAction({
  id: 'company_headcount_distribution_by_job_role',
  name: 'Company headcount by job role',
  description: 'Tells how many people work at a company, and how they are spread over job roles.',
  category: 'companies',
  ...headcountBy('job_role'),
})
