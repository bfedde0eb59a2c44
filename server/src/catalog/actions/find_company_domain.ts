import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { output } from '../outputs.ts'
import { askInOrder } from '../provider/ask-in-order.ts'
import { DOMAIN_FINDERS } from '../waterfalls/company-domain.ts'

export default defineAction({
  id: 'find_company_domain',
  name: 'Find company domain',
  description: 'Finds the website of a company by its name.',
  category: 'companies',
  synonyms: ['website', 'company name to domain', 'url', 'homepage'],
  credits: 0,
  timeoutSeconds: 120,
  inputs: {
    name: field.text({
      required: true,
      label: 'Company name',
      help: 'The company to look for.',
      placeholder: 'Acme',
    }),
    providers: field.waterfall({
      adapters: DOMAIN_FINDERS,
      label: 'Providers',
      help: 'Asked in order until one has an answer.',
    }),
    order: field.waterfallOrder,
  },
  outputs: {
    domain: output.text('Its website, as acme.com.'),
    provider: output.text('The provider that answered.'),
  },
  run: ({ inputs, context }) =>
    askInOrder({ ...inputs.providers, order: inputs.order }, { name: inputs.name.trim() }, context, {
      read: ({ value, provider }) => ({
        ...value,
        provider,
      }),
    }),
})
