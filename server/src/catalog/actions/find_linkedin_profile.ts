import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { output } from '../outputs.ts'
import { askInOrder } from '../provider/ask-in-order.ts'
import { readPerson } from '../questions/person-input.ts'
import { PROFILE_FINDERS } from '../waterfalls/linkedin-url.ts'

export default defineAction({
  id: 'find_linkedin_profile',
  name: 'Find LinkedIn profile',
  description: 'Finds the LinkedIn profile of a person by email, or by name and company.',
  category: 'people',
  credits: 0,
  timeoutSeconds: 120,
  inputs: {
    email: field.text({ type: 'email', description: 'Enough alone; some providers need it.' }),
    full_name: field.text({ description: 'Also needs company_domain.' }),
    company_domain: field.text({ description: 'Also needs full_name.' }),
    providers: field.waterfall({ adapters: PROFILE_FINDERS, description: 'The providers to ask, in order.' }),
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
    return askInOrder(
      { ...inputs.providers, order: inputs.order },
      question,
      context,
      ({ value, provider }) => ({ ...value, provider }),
    )
  },
})
