import { z } from 'zod'
import { type AdapterAsk, type Found, MISS } from '../../provider/adapter.ts'
import { WireNumber } from '../../provider/wire-fields.ts'

type Enrichment<Data> = {
  path: '/company/enrich' | '/person/enrich'
  /** One way to name what is wanted. Crustdata accepts exactly one. */
  by: Record<string, readonly string[]>
  /** The sections of the record. Without names Crustdata returns only the first one. */
  fields: readonly string[]
  data: z.ZodType<Data>
}

/** Looks one thing up. If nothing matches, the list of matches is empty; of several, the most certain one is read. */
export function enrich<Data, Result>(
  ask: AdapterAsk,
  { path, by, fields, data }: Enrichment<Data>,
  read: (data: Data) => Found<Result>,
): Promise<Found<Result>> {
  const Match = z.object({
    confidence_score: WireNumber,
    company_data: data.nullish(),
    person_data: data.nullish(),
  })
  const Asked = z.array(z.object({ matches: z.array(Match).nullish() }))
  // The reference shows a bare list, the guide the same list in `results`.
  const Reply = z.union([Asked, z.object({ results: Asked }).transform(({ results }) => results)])
  const request = { method: 'POST', path, json: { ...by, fields } } as const
  return ask(request, Reply, ([asked]) => {
    const [best] = (asked?.matches ?? []).toSorted(
      (a, b) => (b.confidence_score ?? 0) - (a.confidence_score ?? 0),
    )
    const found = best?.company_data ?? best?.person_data
    return found ? read(found) : MISS
  })
}
