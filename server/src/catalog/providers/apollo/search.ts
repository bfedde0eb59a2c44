import { z } from 'zod'
import { WireNumber } from '../../provider/wire-fields.ts'

export const SEARCH_PATH = '/api/v1/mixed_people/api_search'

/** A page of a search. Only the ids are useful; everything else is masked. */
export const SearchReply = z.object({
  people: z.array(z.object({ id: z.string() })),
  total_entries: WireNumber,
  pagination: z.object({ total_entries: WireNumber }).nullish(),
})

export const readSearch = ({ people, total_entries, pagination }: z.output<typeof SearchReply>) => ({
  ids: people.map(({ id }) => id),
  total: total_entries ?? pagination?.total_entries ?? null,
})
