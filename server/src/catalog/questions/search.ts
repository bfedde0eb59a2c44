import { z } from 'zod'
import { type Found, hit, type QuestionKind, MISS } from '../provider/adapter.ts'

export type SearchQuestion = { query: string; limit: number; country: string }

const Entry = z.object({ title: z.string(), url: z.string(), snippet: z.string() })
export type SearchEntry = z.output<typeof Entry>

export const search: QuestionKind<SearchQuestion, SearchEntry[]> = { result: z.array(Entry) }

/** Returns the first entries. If there are none, it is a miss, because another engine may have some. */
export function entries(found: SearchEntry[], limit: number): Found<SearchEntry[]> {
  return found.length === 0 ? MISS : hit(found.slice(0, limit))
}
