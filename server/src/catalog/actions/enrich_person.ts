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
      adapters: PERSON_SOURCES,
      description: 'Who is asked, in order.',
    }),
    order: field.waterfallOrder,
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
  run({ inputs, context }) {
    return askInOrder(
      { ...inputs.providers, order: inputs.order },
      { ...readPerson(inputs), email: inputs.email?.trim() ?? '' },
      context,
      ({ value, provider }) => ({ ...value, provider }),
    )
  },
})
