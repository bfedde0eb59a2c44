import { z } from 'zod'
import { type Found, hit, MISS, type QuestionKind } from '../provider/adapter.ts'

const Source = z.object({ title: z.string(), url: z.string() })
const Result = z.object({ answer: z.string().min(1), sources: z.array(Source) })
export type FoundAnswer = z.output<typeof Result>

/** A question in words, answered from the web. */
export const answer: QuestionKind<{ question: string }, FoundAnswer> = { result: Result }

type GivenSource = { url: string; title?: string | null | undefined }

/** Returns an answer with its sources. Without a source it cannot be checked, so it is unverified. */
export function tellAnswer(
  text: string | null | undefined,
  sources: readonly GivenSource[],
): Found<FoundAnswer> {
  if (!text?.trim()) return MISS
  const named = sources.map(({ url, title }) => ({ url, title: title ?? '' }))
  return hit({ answer: text.trim(), sources: named }, named.length > 0)
}
