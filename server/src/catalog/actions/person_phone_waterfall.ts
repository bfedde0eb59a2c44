import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { output } from '../outputs.ts'
import { askInOrder } from '../provider/ask-in-order.ts'
import { companyDomain, fullName, readPerson } from '../questions/person-input.ts'
import { PHONE_FINDERS, USUAL_PHONE_FINDERS } from '../waterfalls/phone.ts'

export default defineAction({
  id: 'person_phone_waterfall',
  name: 'Find phone number',
  description: 'Asks one provider after another for the phone number of a person.',
  category: 'people',
  synonyms: ['mobile', 'cell', 'telephone', 'direct dial', 'phone', 'call', 'linkedin'],
  credits: 0,
  timeoutSeconds: 120,
  inputs: {
    full_name: fullName,
    linkedin_url: field.text({
      type: 'url',
      label: 'LinkedIn profile',
      help: 'Enough on its own. Most providers need it.',
      placeholder: 'https://www.linkedin.com/in/ada',
    }),
    company_domain: companyDomain,
    phone_providers: field.waterfall({
      adapters: PHONE_FINDERS,
      default: USUAL_PHONE_FINDERS,
      label: 'Providers',
      help: 'Asked in order until one has an answer.',
    }),
    order: field.waterfallOrder,
  },
  needs: [['linkedin_url'], ['full_name', 'company_domain']],
  outputs: {
    phone: output.text('The number in its international form: +4930123456.'),
    type: output.text('mobile, if the provider reports it.'),
    provider: output.text('The provider that answered.'),
  },
  run({ inputs, context }) {
    return askInOrder({ ...inputs.phone_providers, order: inputs.order }, readPerson(inputs), context, {
      read: ({ value, provider }) => ({
        ...value,
        provider,
      }),
    })
  },
})
