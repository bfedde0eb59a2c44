import { defineAction } from '../define.ts'
import { output } from '../outputs.ts'
import { toOutcome } from '../provider/waterfall-run.ts'
import { countHeads, HEADCOUNT_INPUTS } from '../waterfalls/headcount.ts'

export default defineAction({
  id: 'company_headcount_distribution_by_job_role',
  name: 'Company headcount by job role',
  description: 'Tells how many people work at a company, and how they are spread over job roles.',
  category: 'companies',
  credits: 0,
  timeoutSeconds: 120,
  inputs: HEADCOUNT_INPUTS,
  needs: [['domain'], ['name'], ['linkedin_url']],
  outputs: {
    company_headcount: output.number('How many work there, as far as the provider tells.'),
    breakdown: output.list('Per job role: {job_role, employees, percent}.'),
    provider: output.text('Who knew it.'),
  },
  async run({ inputs, context }) {
    const result = await countHeads('job_role', inputs, context)
    return toOutcome(result, ({ value, provider }) => ({
      company_headcount: value.company_headcount,
      breakdown: value.breakdown.map(({ name, ...part }) => ({ job_role: name, ...part })),
      provider,
    }))
  },
})
