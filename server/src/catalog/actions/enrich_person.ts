import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { output } from '../outputs.ts'
import { runWaterfall, toOutcome } from '../provider/waterfall-run.ts'
import { apolloPerson } from '../providers/apollo/person.ts'
import { crustdataPerson } from '../providers/crustdata/person.ts'
import { peopledatalabsPerson } from '../providers/peopledatalabs/person.ts'
import { prospeoPerson } from '../providers/prospeo/person.ts'
import { readPerson } from '../questions/person-input.ts'
import { PAST } from '../questions/person.ts'

const SOURCES = [peopledatalabsPerson, apolloPerson, crustdataPerson, prospeoPerson]

export default defineAction({
  id: 'enrich_person',
  name: 'Enrich person',
  description: 'Finds out who a person is: title, company, place, past work.',
  category: 'people',
  credits: 0,
  timeoutSeconds: 120,
  inputs: {
    linkedin_url: field.text({ type: 'url', description: 'Enough alone.' }),
    email: field.text({ type: 'email', description: 'Enough alone.' }),
    full_name: field.text({ description: 'Needs company_domain beside it.' }),
    company_domain: field.text({ description: 'Needs full_name beside it.' }),
    providers: field.waterfall({
      providers: SOURCES.map(({ option }) => option),
      default: SOURCES.map(({ provider }) => provider.id),
      description: 'Who is asked, in order.',
    }),
  },
  needs: [['linkedin_url'], ['email'], ['full_name', 'company_domain']],
  outputs: {
    full_name: output.text('The name.'),
    title: output.text('What they do now.'),
    company: output.text('Where they do it.'),
    location: output.text('Where they are.'),
    linkedin_url: output.url('Their profile.'),
    ...PAST,
    provider: output.text('Who knew it.'),
  },
  async run({ inputs, context }) {
    const result = await runWaterfall({
      steps: inputs.providers,
      adapters: SOURCES,
      input: { ...readPerson(inputs), email: inputs.email?.trim() ?? '' },
      context,
      state: context.state,
    })
    return toOutcome(result, ({ value, provider }) => ({ ...value, provider }))
  },
})
