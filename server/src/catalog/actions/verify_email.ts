import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { output } from '../outputs.ts'
import { askInOrder } from '../provider/ask-in-order.ts'
import { builtInVerification } from '../providers/built_in/verification.ts'
import { VERIFIERS } from '../waterfalls/verification.ts'

export default defineAction({
  id: 'verify_email',
  name: 'Verify email',
  description: 'Checks whether an email address can receive mail, without sending any.',
  category: 'people',
  synonyms: ['validate', 'check', 'deliverable', 'bounce', 'catch-all', 'clean'],
  credits: 0,
  timeoutSeconds: 120,
  inputs: {
    email: field.text({
      type: 'email',
      required: true,
      label: 'Email',
      help: 'The address to check.',
      placeholder: 'ada@acme.com',
    }),
    providers: field.waterfall({
      adapters: VERIFIERS,
      default: [builtInVerification],
      label: 'Verifiers',
      help: 'Asked in order until one can tell.',
      details: 'Default Built-in.',
    }),
    order: field.waterfallOrder,
  },
  outputs: {
    status: output.text('valid, invalid, catch_all, disposable, role or unknown.'),
    reason: output.text('Why.'),
    mx: output.text('The mail server of its domain.'),
    provider: output.text('The source.'),
  },
  run({ inputs, context }) {
    return askInOrder({ ...inputs.providers, order: inputs.order }, { email: inputs.email.trim() }, context, {
      read: ({ value, provider }) => ({
        ...value,
        provider,
      }),
    })
  },
})
