import { z } from 'zod'
import type { QuestionKind } from '../provider/adapter.ts'
import { Amount, Text } from './answer-fields.ts'

const Result = z.object({
  name: z.string().min(1),
  description: Text,
  industry: Text,
  headcount: Amount,
  hq: Text,
  website: Text,
  founded: Amount,
  followers: Amount,
  linkedin_url: Text,
})
export type LinkedinCompany = z.output<typeof Result>

export const linkedinCompany: QuestionKind<{ linkedin_url: string }, LinkedinCompany> = { result: Result }
