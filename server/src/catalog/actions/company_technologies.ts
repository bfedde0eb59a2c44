import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { output } from '../outputs.ts'
import { askInOrder } from '../provider/ask-in-order.ts'
import { bareHost } from '../questions/person-input.ts'
import { TECHNOLOGY_SOURCES } from '../waterfalls/technologies.ts'

export default defineAction({
  id: 'company_technologies',
  name: 'Company technologies',
  description: 'Lists the technologies a company uses. Asks one source after another until one knows some.',
  category: 'companies',
  synonyms: ['tech stack', 'technographics', 'tools', 'software'],
  credits: 0,
  timeoutSeconds: 120,
  inputs: {
    domain: field.text({
      required: true,
      label: 'Company domain',
      help: 'The website of the company.',
      placeholder: 'acme.com',
    }),
    providers: field.waterfall({
      adapters: TECHNOLOGY_SOURCES,
      label: 'Providers',
      help: 'Asked in order. Built-in reads the website and its DNS records.',
    }),
    order: field.waterfallOrder,
  },
  outputs: {
    technologies: output.table('The technologies.', {
      name: 'string',
      category: 'string',
      evidence: 'string',
      first_seen: 'string',
      last_seen: 'string',
    }),
    provider: output.text('The provider that answered.'),
  },
  run({ inputs, context }) {
    return askInOrder(
      { ...inputs.providers, order: inputs.order },
      { domain: bareHost(inputs.domain) },
      context,
      { read: ({ value, provider }) => ({ technologies: value, provider }) },
    )
  },
})
