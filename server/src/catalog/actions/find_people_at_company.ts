import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { output } from '../outputs.ts'
import { runWaterfall, toOutcome } from '../provider/waterfall-run.ts'
import { apolloPeople } from '../providers/apollo/people.ts'
import { blitzPeople } from '../providers/blitz/people.ts'
import { crustdataPeople } from '../providers/crustdata/people.ts'
import { prospeoPeople } from '../providers/prospeo/people.ts'
import { bareHost } from '../questions/person-input.ts'

const SOURCES = [apolloPeople, blitzPeople, crustdataPeople, prospeoPeople]
const DEFAULT_LIMIT = 25

export default defineAction({
  id: 'find_people_at_company',
  name: 'Find people at company',
  description: 'Lists people who work at a company, by title and seniority.',
  category: 'people',
  credits: 0,
  timeoutSeconds: 120,
  inputs: {
    domain: field.text({ required: true, description: 'acme.com' }),
    titles: field.texts({ description: 'Titles, any of which will do.' }),
    seniority: field.texts({
      description: 'owner, founder, c_suite, vp, director, manager, senior, entry, ...',
    }),
    limit: field.number({
      min: 1,
      max: 500,
      whole: true,
      default: DEFAULT_LIMIT,
      description: `At most this many. Default ${DEFAULT_LIMIT}.`,
    }),
    providers: field.waterfall({
      providers: SOURCES.map(({ option }) => option),
      default: SOURCES.map(({ provider }) => provider.id),
      description: 'Who is asked, in order.',
    }),
  },
  outputs: {
    count: output.number('How many there are, as far as the provider tells.'),
    people: output.table('Those found.', {
      full_name: 'string',
      title: 'string',
      company: 'string',
      location: 'string',
      linkedin_url: 'url',
      id: 'string',
    }),
    provider: output.text('Who knew them.'),
  },
  async run({ inputs, context }) {
    const result = await runWaterfall({
      steps: inputs.providers,
      adapters: SOURCES,
      input: {
        domain: bareHost(inputs.domain),
        titles: inputs.titles.filter((title) => title !== ''),
        seniority: inputs.seniority.filter((word) => word !== ''),
        limit: inputs.limit ?? DEFAULT_LIMIT,
      },
      context,
      state: context.state,
    })
    return toOutcome(result, ({ value, provider }) => ({ ...value, provider }))
  },
})
