import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { output } from '../outputs.ts'
import { runWaterfall, toOutcome } from '../provider/waterfall-run.ts'
import { VERIFIERS } from '../waterfalls/email-providers.ts'

export default defineAction({
  id: 'verify_email',
  name: 'Verify email',
  description: 'Tells whether mail to an address would arrive, without sending any.',
  category: 'people',
  credits: 0,
  timeoutSeconds: 120,
  inputs: {
    email: field.text({ type: 'email', required: true, description: 'The address.' }),
    providers: field.waterfall({
      providers: VERIFIERS.map(({ option }) => option),
      default: ['built_in'],
      description: 'Who is asked, in order, until one can tell. Default Built-in.',
    }),
  },
  outputs: {
    status: output.text('valid, invalid, catch_all, disposable, role or unknown.'),
    reason: output.text('Why.'),
    mx: output.text('The mail server of its domain.'),
    provider: output.text('Who told.'),
  },
  async run({ inputs, context }) {
    const result = await runWaterfall({
      steps: inputs.providers,
      adapters: VERIFIERS,
      input: { email: inputs.email.trim() },
      context,
      state: context.state,
    })
    return toOutcome(result, ({ value, provider }) => ({ ...value, provider }))
  },
})
