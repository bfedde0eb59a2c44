import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, failed } from '../outcome.ts'
import { output } from '../outputs.ts'

export default defineAction({
  id: 'parse_phone_number',
  name: 'Parse phone number',
  description: 'Formats a phone number internationally and checks whether it can exist.',
  category: 'data',
  synonyms: ['format', 'e164', 'country code', 'mobile', 'clean', 'validate'],
  credits: 0,
  pure: true,
  inputs: {
    value: field.text({
      required: true,
      label: 'Phone number',
      help: 'In any format.',
      placeholder: '030 123456',
    }),
    default_country: field.text({
      label: 'Default country',
      help: 'The country of numbers without a country code.',
      placeholder: 'DE',
    }),
  },
  outputs: {
    valid: output.boolean('True if such a number can be assigned.'),
    e164: output.text('+4930123456'),
    country: output.text('Its country: DE.'),
    type: output.text('mobile, fixed_line, fixed_line_or_mobile, toll_free, voip, ...'),
    international: output.text('+49 30 123456'),
    national: output.text('030 123456'),
  },
  run({ inputs }) {
    const country = inputs.default_country?.trim().toUpperCase()
    if (country !== undefined && !isSupportedCountry(country)) {
      return failed(`default_country must be a country such as DE or US; it was ${country.slice(0, 20)}`)
    }
    const parsed = parsePhoneNumberFromString(inputs.value, country)
    const number = parsed?.isPossible() ? parsed : undefined
    return done({
      valid: number?.isValid() ?? false,
      e164: number?.number ?? null,
      country: number?.country ?? null,
      type: number?.getType()?.toLowerCase() ?? null,
      international: number?.formatInternational() ?? null,
      national: number?.formatNational() ?? null,
    })
  },
})
