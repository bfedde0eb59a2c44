import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { output } from '../outputs.ts'
import { askInOrder } from '../provider/ask-in-order.ts'
import { SEARCH_ENGINES } from '../waterfalls/search.ts'

const DEFAULT_LIMIT = 10

export default defineAction({
  id: 'web_search',
  name: 'Web search',
  description: 'Searches the web by one engine after another, until one finds something.',
  category: 'web',
  synonyms: ['google', 'bing', 'results', 'find', 'serp', 'linkedin'],
  credits: 0,
  timeoutSeconds: 120,
  inputs: {
    query: field.text({
      type: 'promptField',
      required: true,
      label: 'Search for',
      help: 'The words to search for.',
      placeholder: 'Acme funding',
    }),
    providers: field.waterfall({
      adapters: SEARCH_ENGINES,
      label: 'Search engines',
      help: 'Asked in order until one has results.',
    }),
    order: field.waterfallOrder,
    limit: field.number({
      min: 1,
      max: 50,
      whole: true,
      default: DEFAULT_LIMIT,
      label: 'Most results',
      help: 'The list ends after this many.',
      placeholder: `${DEFAULT_LIMIT}`,
      details: `Default ${DEFAULT_LIMIT}.`,
    }),
    country: field.text({ label: 'Country', help: 'Where the search is made.', placeholder: 'US' }),
  },
  outputs: {
    results: output.table('The pages found, the best first.', {
      title: 'string',
      url: 'url',
      snippet: 'string',
    }),
    provider: output.text('The provider that answered.'),
  },
  run({ inputs, context }) {
    const { query, limit = DEFAULT_LIMIT, country = '' } = inputs
    return askInOrder(
      { ...inputs.providers, order: inputs.order },
      { query: query.trim(), limit, country: country.trim() },
      context,
      { read: ({ value, provider }) => ({ results: value, provider }) },
    )
  },
})
