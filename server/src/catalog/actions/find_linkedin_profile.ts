import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { output } from '../outputs.ts'
import { askInOrder } from '../provider/ask-in-order.ts'
import { companyDomain, fullName, readPerson } from '../questions/person-input.ts'
import { PROFILE_FINDERS } from '../waterfalls/linkedin-url.ts'

export default defineAction({
  id: 'find_linkedin_profile',
  name: 'Find LinkedIn profile',
  description: 'Finds the LinkedIn profile of a person by email, or by name and company.',
  category: 'people',
  synonyms: ['linkedin url', 'person profile', 'social'],
  credits: 0,
  timeoutSeconds: 120,
  inputs: {
    email: field.text({
      type: 'email',
      label: 'Email',
      help: 'Enough on its own. Some providers need it.',
      placeholder: 'ada@acme.com',
    }),
    full_name: fullName,
    company_domain: companyDomain,
    providers: field.waterfall({
      adapters: PROFILE_FINDERS,
      label: 'Providers',
      help: 'Asked in order until one has an answer.',
    }),
    order: field.waterfallOrder,
  },
  needs: [['email'], ['full_name', 'company_domain']],
  outputs: {
    linkedin_url: output.url('The profile.'),
    provider: output.text('The provider that answered.'),
  },
  run({ inputs, context }) {
    const { full_name, domain } = readPerson(inputs)
    const question = { email: inputs.email?.trim() ?? '', full_name, domain }
    return askInOrder({ ...inputs.providers, order: inputs.order }, question, context, {
      read: ({ value, provider }) => ({ ...value, provider }),
    })
  },
})
