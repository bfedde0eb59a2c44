import { z } from 'zod'
import type { QuestionKind } from '../provider/adapter.ts'

export type CompanyQuestion = { domain: string; name: string; linkedin_url: string }

const Text = z.string().trim().min(1).nullable().catch(null)

const Result = z.object({
  name: z.string().min(1),
  description: Text,
  industry: Text,
  employees: z.number().nullable().catch(null),
  revenue_range: Text,
  founded: z.number().nullable().catch(null),
  hq: Text,
  ticker: Text,
  linkedin_url: Text,
})
export type Company = z.output<typeof Result>

export const company: QuestionKind<CompanyQuestion, Company> = { result: Result }
