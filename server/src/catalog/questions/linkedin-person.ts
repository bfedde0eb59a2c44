import type { z } from 'zod'
import type { QuestionKind } from '../provider/adapter.ts'
import { Amount, Text } from './answer-fields.ts'
import { PersonResult } from './person.ts'

const Result = PersonResult.extend({
  headline: Text,
  about: Text,
  connections: Amount,
})
export type LinkedinPerson = z.output<typeof Result>

export const linkedinPerson: QuestionKind<{ linkedin_url: string }, LinkedinPerson> = { result: Result }
