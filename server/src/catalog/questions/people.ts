import { z } from 'zod'
import { type Found, MISS, type QuestionKind } from '../provider/adapter.ts'
import { Text } from './answer-fields.ts'

export type PeopleQuestion = { domain: string; titles: string[]; seniority: string[]; limit: number }

const Entry = z.object({
  full_name: z.string().min(1),
  title: Text,
  company: Text,
  location: Text,
  linkedin_url: Text,
  id: Text,
})
export type PersonEntry = z.output<typeof Entry>

const Result = z.object({ count: z.number(), people: z.array(Entry) })
export type FoundPeople = z.output<typeof Result>

export const people: QuestionKind<PeopleQuestion, FoundPeople> = { result: Result }

/**
 * Returns the people whose name is not masked. If there are none, it is a miss. `total` is the provider's count, if it
 * gives one; `note` says why not all wanted people were listed.
 */
export function listPeople(
  found: readonly PersonEntry[],
  total: number,
  note: string | null,
): Found<FoundPeople> {
  const named = found.filter(({ full_name }) => full_name !== '' && !full_name.includes('**'))
  if (named.length === 0) return MISS
  const listed = { count: Math.max(total, named.length), people: named }
  return { kind: 'hit', value: listed, verified: true, ...(note === null ? {} : { note }) }
}
