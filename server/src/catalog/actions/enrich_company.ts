import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { output } from '../outputs.ts'
import { runWaterfall, toOutcome } from '../provider/waterfall-run.ts'
import { apolloCompany } from '../providers/apollo/company.ts'
import { builtInWebsiteCompany } from '../providers/built_in_website/company.ts'
import { crustdataCompany } from '../providers/crustdata/company.ts'
import { exploriumCompany } from '../providers/explorium/company.ts'
import { peopledatalabsCompany } from '../providers/peopledatalabs/company.ts'
import { bareHost } from '../questions/person-input.ts'

const SOURCES = [
  builtInWebsiteCompany,
  peopledatalabsCompany,
  apolloCompany,
  exploriumCompany,
  crustdataCompany,
]

export default defineAction({
  id: 'enrich_company',
  name: 'Enrich company',
  description: 'Finds out what a company is: industry, size, revenue, headquarters.',
  category: 'companies',
  credits: 0,
  timeoutSeconds: 120,
  inputs: {
    domain: field.text({ description: 'acme.com; enough alone.' }),
    name: field.text({ description: 'Enough alone, for providers that take it.' }),
    linkedin_url: field.text({ type: 'url', description: 'Enough alone, for providers that take it.' }),
    providers: field.waterfall({
      providers: SOURCES.map(({ option }) => option),
      default: ['peopledatalabs', 'apollo', 'explorium', 'crustdata', 'built_in_website'],
      description: 'Who is asked, in order.',
    }),
  },
  needs: [['domain'], ['name'], ['linkedin_url']],
  outputs: {
    name: output.text('The name.'),
    description: output.text('What it does.'),
    industry: output.text('Its industry.'),
    employees: output.number('How many work there.'),
    revenue_range: output.text('Its yearly revenue.'),
    founded: output.number('The year.'),
    hq: output.text('Its headquarters.'),
    ticker: output.text('Its stock symbol.'),
    linkedin_url: output.url('Its page.'),
    provider: output.text('Who knew it.'),
  },
  async run({ inputs, context }) {
    const { domain = '', name = '', linkedin_url = '' } = inputs
    const result = await runWaterfall({
      steps: inputs.providers,
      adapters: SOURCES,
      input: { domain: bareHost(domain), name: name.trim(), linkedin_url: linkedin_url.trim() },
      context,
      state: context.state,
    })
    return toOutcome(result, ({ value, provider }) => ({ ...value, provider }))
  },
})
