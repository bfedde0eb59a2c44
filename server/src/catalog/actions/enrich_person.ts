import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { output } from '../outputs.ts'
import { askInOrder } from '../provider/ask-in-order.ts'
import { companyDomain, fullName, readPerson } from '../questions/person-input.ts'
import { PAST } from '../questions/person.ts'
import { PERSON_SOURCES } from '../waterfalls/person.ts'

export default defineAction({
  id: 'enrich_person',
  name: 'Enrich person',
  description: 'Finds title, company, location and experience of a person.',
  category: 'people',
  synonyms: ['contact data', 'job title', 'person data', 'seniority', 'linkedin', 'experience'],
  credits: 0,
  timeoutSeconds: 120,
  inputs: {
    linkedin_url: field.text({
      type: 'url',
      label: 'LinkedIn profile',
      help: 'Enough on its own.',
      placeholder: 'https://www.linkedin.com/in/ada',
    }),
    email: field.text({
      type: 'email',
      label: 'Email',
      help: 'Enough on its own.',
      placeholder: 'ada@acme.com',
    }),
    full_name: fullName,
    company_domain: companyDomain,
    providers: field.waterfall({
      adapters: PERSON_SOURCES,
      label: 'Providers',
      help: 'Asked in order until one has an answer.',
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
      { read: ({ value, provider }) => ({ ...value, provider }) },
    )
  },
})
