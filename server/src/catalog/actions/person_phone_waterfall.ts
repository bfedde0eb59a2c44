import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { output } from '../outputs.ts'
import { runWaterfall, toOutcome } from '../provider/waterfall-run.ts'
import { contactoutPhone } from '../providers/contactout/phone.ts'
import { datagmaPhone } from '../providers/datagma/phone.ts'
import { kasprPhone } from '../providers/kaspr/phone.ts'
import { leadmagicPhone } from '../providers/leadmagic/phone.ts'
import { prospeoPhone } from '../providers/prospeo/phone.ts'
import { rocketreachPhone } from '../providers/rocketreach/phone.ts'
import { surfePhone } from '../providers/surfe/phone.ts'
import { wizaPhone } from '../providers/wiza/phone.ts'
import { readPerson } from '../questions/person-input.ts'

const FINDERS = [
  leadmagicPhone,
  datagmaPhone,
  prospeoPhone,
  contactoutPhone,
  surfePhone,
  kasprPhone,
  rocketreachPhone,
  wizaPhone,
]

export default defineAction({
  id: 'person_phone_waterfall',
  name: 'Find phone number',
  description: 'Asks one provider after another for the phone number of a person.',
  category: 'people',
  credits: 0,
  timeoutSeconds: 120,
  inputs: {
    full_name: field.text({ description: 'Needs company_domain beside it.' }),
    linkedin_url: field.text({ type: 'url', description: 'Enough alone; most providers need it.' }),
    company_domain: field.text({ description: 'Needs full_name beside it.' }),
    phone_providers: field.waterfall({
      providers: FINDERS.map(({ option }) => option),
      default: FINDERS.map(({ provider }) => provider.id),
      description: 'Who is asked, in order.',
    }),
  },
  needs: [['linkedin_url'], ['full_name', 'company_domain']],
  outputs: {
    phone: output.text('The number in its international form: +4930123456.'),
    type: output.text('mobile, where its finder tells.'),
    provider: output.text('Who found it.'),
  },
  async run({ inputs, context }) {
    const result = await runWaterfall({
      steps: inputs.phone_providers,
      adapters: FINDERS,
      input: readPerson(inputs),
      context,
      state: context.state,
    })
    return toOutcome(result, ({ value, provider }) => ({ ...value, provider }))
  },
})
