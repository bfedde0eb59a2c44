import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { z } from 'zod'
import type { QuestionKind } from '../provider/adapter.ts'
import type { PersonAtCompany } from './work-email.ts'

/** A phone number. Masked and truncated numbers are rejected. */
const Phone = z.string().transform((text, context) => {
  const number = parsePhoneNumberFromString(/^\s*\+/.test(text) ? text : `+${text.trim()}`)
  if (number?.isPossible() === true && !/[x*]/i.test(text)) return number.number
  context.addIssue('must be a phone number with its country')
  return z.NEVER
})

const Result = z.object({ phone: Phone, type: z.string().nullable() })
export type FoundPhone = z.output<typeof Result>

export const phone: QuestionKind<PersonAtCompany, FoundPhone> = { result: Result }
