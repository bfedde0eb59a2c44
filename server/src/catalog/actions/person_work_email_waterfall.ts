import { defineAction } from '../define.ts'
import type { ProviderOption } from '../fields/field.ts'
import { field } from '../fields/fields.ts'
import { output } from '../outputs.ts'
import { askInOrder } from '../provider/ask-in-order.ts'
import { companyDomain, fullName, readPerson } from '../questions/person-input.ts'
import { checkEmails } from '../waterfalls/email-check.ts'
import { VERIFIERS } from '../waterfalls/verification.ts'
import { EMAIL_FINDERS, USUAL_EMAIL_FINDERS } from '../waterfalls/work-email.ts'

const NONE: ProviderOption = {
  id: 'none',
  name: 'None',
  supportsOwnKey: false,
  requiresOwnKey: false,
  credits: 0,
  asksNobody: true,
}

export default defineAction({
  id: 'person_work_email_waterfall',
  name: 'Find work email',
  description:
    'Asks one provider after another for the work email of a person, until an address is verified.',
  category: 'people',
  synonyms: ['email finder', 'business email', 'work email', 'contact', 'address', 'linkedin'],
  credits: 0,
  timeoutSeconds: 120,
  inputs: {
    full_name: fullName,
    linkedin_url: field.text({
      type: 'url',
      label: 'LinkedIn profile',
      help: 'Enough on its own with providers that accept it.',
      placeholder: 'https://www.linkedin.com/in/ada',
    }),
    company_domain: companyDomain,
    email_providers: field.waterfall({
      adapters: EMAIL_FINDERS,
      default: USUAL_EMAIL_FINDERS,
      label: 'Email providers',
      help: 'Asked in order until one finds a verified address.',
    }),
    order: field.waterfallOrder,
    email_validation: field.waterfall({
      adapters: VERIFIERS,
      default: [],
      also: [NONE],
      takesOne: true,
      label: 'Email verifiers',
      help: 'Check each address that was found. Built-in checks those their finder has not verified.',
      details: 'Takes one name, `None`, or a list.',
      advanced: true,
    }),
    accept_catch_all: field.toggle({
      label: 'Accept catch-all addresses',
      help: 'Counts addresses of domains that accept every name as verified.',
      advanced: true,
    }),
  },
  needs: [['linkedin_url'], ['full_name', 'company_domain']],
  outputs: {
    work_email: output.email('The address.'),
    status: output.text('The result of the verification: valid, catch_all, role or unknown.'),
    provider: output.text('The provider that answered.'),
    confidence: output.number('From 0 to 1, if the provider reports it.'),
  },
  run({ inputs, context }) {
    const check = checkEmails({
      named: inputs.email_validation,
      usual: [{ provider: 'built_in', own_key: false }],
      acceptCatchAll: inputs.accept_catch_all,
      context,
    })
    return askInOrder({ ...inputs.email_providers, order: inputs.order }, readPerson(inputs), context, {
      read: ({ value, provider }) => ({
        work_email: value.email,
        status: value.status ?? 'unknown',
        provider,
        confidence: value.confidence,
      }),
      check,
    })
  },
})
