import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { output } from '../outputs.ts'
import { askInOrder } from '../provider/ask-in-order.ts'
import { bareHost } from '../questions/person-input.ts'
import { COMPANY_SOURCES, USUAL_COMPANY_SOURCES } from '../waterfalls/company.ts'

export default defineAction({
  id: 'enrich_company',
  name: 'Enrich company',
  description: 'Finds industry, size, revenue and headquarters of a company.',
  category: 'companies',
  synonyms: [
    'firmographics',
    'company data',
    'industry',
    'revenue',
    'employees',
    'headcount',
    'headquarters',
  ],
  credits: 0,
  timeoutSeconds: 120,
  inputs: {
    domain: field.text({ label: 'Company domain', help: 'Enough on its own.', placeholder: 'acme.com' }),
    name: field.text({
      label: 'Company name',
      help: 'Enough on its own with providers that search by name.',
      placeholder: 'Acme',
    }),
    linkedin_url: field.text({
      type: 'url',
      label: 'Company LinkedIn page',
      help: 'Enough on its own with providers that accept it.',
      placeholder: 'https://www.linkedin.com/company/acme',
    }),
    providers: field.waterfall({
      adapters: COMPANY_SOURCES,
      default: USUAL_COMPANY_SOURCES,
      label: 'Providers',
      help: 'Asked in order until one has an answer.',
    }),
    order: field.waterfallOrder,
  },
  needs: [['domain'], ['name'], ['linkedin_url']],
  outputs: {
    name: output.text('The name.'),
    domain: output.text('Its website, as acme.com.'),
    description: output.text('The description of the company.'),
    industry: output.text('Its industry.'),
    employees: output.number('The number of employees.'),
    revenue_range: output.text('Its yearly revenue.'),
    founded: output.number('The year.'),
    hq: output.text('Its headquarters.'),
    ticker: output.text('Its stock symbol.'),
    linkedin_url: output.url('Its page.'),
    provider: output.text('The provider that answered.'),
  },
  run({ inputs, context }) {
    const { domain = '', name = '', linkedin_url = '' } = inputs
    return askInOrder(
      { ...inputs.providers, order: inputs.order },
      { domain: bareHost(domain), name: name.trim(), linkedin_url: linkedin_url.trim() },
      context,
      { read: ({ value, provider }) => ({ ...value, provider }) },
    )
  },
})
