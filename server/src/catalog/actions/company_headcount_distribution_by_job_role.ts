import { defineAction } from '../define.ts'
import { headcountBy } from '../waterfalls/headcount.ts'

export default defineAction({
  id: 'company_headcount_distribution_by_job_role',
  name: 'Company headcount by job role',
  description: 'Company headcount, with the distribution by job role.',
  category: 'companies',
  synonyms: ['employees', 'company size', 'departments', 'teams', 'functions'],
  ...headcountBy('job_role'),
})
