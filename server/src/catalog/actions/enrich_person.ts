import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { output } from '../outputs.ts'
import { askInOrder } from '../provider/ask-in-order.ts'
import { readPerson } from '../questions/person-input.ts'
import { PAST } from '../questions/person.ts'
import { PERSON_SOURCES } from '../waterfalls/person.ts'

export default defineAction({
  id: 'enrich_person',
  name: 'Enrich person',
  description: 'Data about a person: title, company, location, past work.',
  category: 'people',
  credits: 0,
  timeoutSeconds: 120,
  inputs: {
    linkedin_url: field.text({ type: 'url', description: 'Enough alone.' }),
    email: field.text({ type: 'email', description: 'Enough alone.' }),
    full_name: field.text({ description: 'Also needs company_domain.' }),
    company_domain: field.text({ description: 'Also needs full_name.' }),
    providers: field.waterfall({
      adapters: PERSON_SOURCES,
      description: 'The providers to ask, in order.',
    }),
    order: field.waterfallOrder,
  },
  needs: [['linkedin_url'], ['email'], ['full_name', 'company_domain']],
  outputs: {
    full_name: output.text('The name.'),
    title: output.text('The current job title.'),
    company: output.text('The current company.'),
    location: output.text('The location of the person.'),
    linkedin_url: output.url('Their profile.'),
    ...PAST,
    provider: output.text('The provider that answered.'),
  },
  run({ inputs, context }) {
    return askInOrder(
      { ...inputs.providers, order: inputs.order },
      { ...readPerson(inputs), email: inputs.email?.trim() ?? '' },
      context,
      ({ value, provider }) => ({ ...value, provider }),
    )
  },
})
