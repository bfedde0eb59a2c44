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
  synonyms: [
    'contacts',
    'employees',
    'leads',
    'decision makers',
    'prospects',
    'buying committee',
    'linkedin',
  ],
  credits: 0,
  timeoutSeconds: 120,
  inputs: {
    domain: field.text({
      required: true,
      label: 'Company domain',
      help: 'The website of the company.',
      placeholder: 'acme.com',
    }),
    titles: field.texts({
      label: 'Job titles',
      help: 'People with any of these titles.',
      placeholder: 'Head of Sales',
    }),
    seniority: field.texts({
      label: 'Seniority',
      help: 'People at any of these levels.',
      placeholder: 'director',
      details: 'Such as owner, founder, c_suite, vp, director, manager, senior, entry.',
    }),
    limit: field.number({
      min: 1,
      max: 500,
      whole: true,
      default: DEFAULT_LIMIT,
      label: 'Most people',
      help: 'The list ends after this many.',
      placeholder: `${DEFAULT_LIMIT}`,
      details: `Default ${DEFAULT_LIMIT}.`,
    }),
    providers: field.waterfall({
      adapters: PEOPLE_SOURCES,
      label: 'Providers',
      help: 'Asked in order until one has an answer.',
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
      { read: ({ value, provider }) => ({ ...value, provider }) },
    )
  },
})
