import { z } from 'zod'
import type { QuestionKind } from '../provider/adapter.ts'
import { Amount } from './answer-fields.ts'
import type { CompanyQuestion } from './company.ts'

export type HeadcountQuestion = CompanyQuestion & { by: 'country' | 'job_role' }

const Part = z.object({ name: z.string(), employees: Amount, percent: Amount })

/** The number of people at a company, and how they are distributed. */
const Result = z.object({ company_headcount: Amount, breakdown: z.array(Part) })
export type FoundHeadcount = z.output<typeof Result>

export const headcount: QuestionKind<HeadcountQuestion, FoundHeadcount> = { result: Result }
