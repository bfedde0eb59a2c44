import { z } from 'zod'
import { output } from '../outputs.ts'
import type { QuestionKind } from '../provider/adapter.ts'
import { Text } from './answer-fields.ts'
import type { PersonAtCompany } from './work-email.ts'

export type PersonQuestion = PersonAtCompany & { email: string }

const Place = z.object({ title: Text, company: Text, start: Text, end: Text, current: z.boolean() })
const Study = z.object({ school: Text, degree: Text, start: Text, end: Text })

export const PersonResult = z.object({
  full_name: z.string().min(1),
  title: Text,
  company: Text,
  location: Text,
  linkedin_url: Text,
  experiences: z.array(Place),
  education: z.array(Study),
})
export type Person = z.output<typeof PersonResult>

/** The outputs of every action that returns a person's past. */
export const PAST = {
  experiences: output.table('Their work so far.', {
    title: 'string',
    company: 'string',
    start: 'string',
    end: 'string',
    current: 'boolean',
  }),
  education: output.table('Where they studied.', {
    school: 'string',
    degree: 'string',
    start: 'string',
    end: 'string',
  }),
}

export const person: QuestionKind<PersonQuestion, Person> = { result: PersonResult }

/** Returns true if the question identifies one person. */
export const isIdentified = ({ linkedin_url, email, full_name, domain }: PersonQuestion): boolean =>
  linkedin_url !== '' || email !== '' || (full_name !== '' && domain !== '')

/** Returns a text as an address. Some providers write `linkedin.com/in/ann` without the scheme. */
export function linkOf(text: string | null | undefined): string | null {
  if (!text) return null
  return /^https?:\/\//i.test(text) ? text : `https://${text}`
}
