import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { output } from '../outputs.ts'
import { askInOrder } from '../provider/ask-in-order.ts'
import { bareHost } from '../questions/person-input.ts'
import { PEOPLE_SOURCES } from '../waterfalls/people.ts'

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
      adapters: PEOPLE_SOURCES,
      description: 'The providers to ask, in order.',
    }),
    order: field.waterfallOrder,
  },
  outputs: {
    count: output.number('The total number of people, if the provider reports it.'),
    people: output.table('The people found.', {
      full_name: 'string',
      title: 'string',
      company: 'string',
      location: 'string',
      linkedin_url: 'url',
      id: 'string',
    }),
    provider: output.text('The provider that answered.'),
  },
  run({ inputs, context }) {
    return askInOrder(
      { ...inputs.providers, order: inputs.order },
      {
        domain: bareHost(inputs.domain),
        titles: inputs.titles.filter((title) => title !== ''),
        seniority: inputs.seniority.filter((word) => word !== ''),
        limit: inputs.limit ?? DEFAULT_LIMIT,
      },
      context,
      ({ value, provider }) => ({ ...value, provider }),
    )
  },
})
