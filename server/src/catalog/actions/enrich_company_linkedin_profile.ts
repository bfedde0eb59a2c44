import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { output } from '../outputs.ts'
import { runWaterfall, toOutcome } from '../provider/waterfall-run.ts'
import { apifyLinkedinCompany } from '../providers/apify/linkedin-company.ts'
import { crustdataLinkedinCompany } from '../providers/crustdata/linkedin-company.ts'

const SOURCES = [apifyLinkedinCompany, crustdataLinkedinCompany]

export default defineAction({
  id: 'enrich_company_linkedin_profile',
  name: 'Enrich LinkedIn company page',
  description: 'Reads the LinkedIn page of a company.',
  category: 'companies',
  credits: 0,
  timeoutSeconds: 240,
  inputs: {
    linkedin_url: field.text({
      type: 'url',
      required: true,
      description: 'https://www.linkedin.com/company/acme',
    }),
    providers: field.waterfall({
      providers: SOURCES.map(({ option }) => option),
      default: SOURCES.map(({ provider }) => provider.id),
      description: 'Who is asked, in order.',
    }),
  },
  outputs: {
    name: output.text('The name.'),
    description: output.text('What it does.'),
    industry: output.text('Its industry.'),
    headcount: output.number('How many work there.'),
    hq: output.text('Its headquarters.'),
    website: output.url('Its website.'),
    founded: output.number('The year.'),
    followers: output.number('How many follow it.'),
    linkedin_url: output.url('Its page.'),
    provider: output.text('Who knew it.'),
  },
  async run({ inputs, context }) {
    const result = await runWaterfall({
      steps: inputs.providers,
      adapters: SOURCES,
      input: { linkedin_url: inputs.linkedin_url.trim() },
      context,
      state: context.state,
    })
    return toOutcome(result, ({ value, provider }) => ({ ...value, provider }))
  },
})
