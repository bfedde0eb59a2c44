import { z } from 'zod'
import type { QuestionKind } from '../provider/adapter.ts'
import { Text } from './answer-fields.ts'

export type OpeningsQuestion = { domain: string; keywords: string[]; limit: number }

const Opening = z.object({
  title: z.string().min(1),
  location: Text,
  url: Text,
  posted_at: Text,
  department: Text,
})
export type Opening = z.output<typeof Opening>

/** The open jobs of a company. */
const Result = z.object({ count: z.number(), jobs: z.array(Opening) })
export type FoundOpenings = z.output<typeof Result>

export const openings: QuestionKind<OpeningsQuestion, FoundOpenings> = { result: Result }
