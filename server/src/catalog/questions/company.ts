import { z } from 'zod'
import type { QuestionKind } from '../provider/adapter.ts'
import { Amount, Text } from './answer-fields.ts'

export type CompanyQuestion = { domain: string; name: string; linkedin_url: string }

const Result = z.object({
  name: z.string().min(1),
  description: Text,
  industry: Text,
  employees: Amount,
  revenue_range: Text,
  founded: Amount,
  hq: Text,
  ticker: Text,
  linkedin_url: Text,
})
export type Company = z.output<typeof Result>

export const company: QuestionKind<CompanyQuestion, Company> = { result: Result }
