import { z } from 'zod'
import { type Found, hit, type QuestionKind, MISS } from '../provider/adapter.ts'
import { Text } from './answer-fields.ts'

const Entry = z.object({
  name: z.string().min(1),
  category: Text,
  evidence: Text,
  first_seen: Text,
  last_seen: Text,
})
export type TechnologyEntry = z.output<typeof Entry>

export const technologies: QuestionKind<{ domain: string }, TechnologyEntry[]> = { result: z.array(Entry) }

/** Returns each technology once. If there are none, it is a miss, because another provider may know some. */
export function listTechnologies(found: readonly TechnologyEntry[]): Found<TechnologyEntry[]> {
  const unique = [...new Map(found.map((entry) => [entry.name, entry])).values()]
  return unique.length === 0 ? MISS : hit(unique)
}
