import { z } from 'zod'
import type { QuestionKind } from '../provider/adapter.ts'
import { PersonResult } from './person.ts'

const Text = z.string().trim().min(1).nullable().catch(null)

const Result = PersonResult.extend({
  headline: Text,
  about: Text,
  connections: z.number().nullable().catch(null),
})
export type LinkedinPerson = z.output<typeof Result>

export const linkedinPerson: QuestionKind<{ linkedin_url: string }, LinkedinPerson> = { result: Result }
