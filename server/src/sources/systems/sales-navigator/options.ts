import { z } from 'zod'
import { mapReply } from '../../../catalog/provider/options.ts'
import { crustdata } from '../../../catalog/providers/crustdata/provider.ts'
import type { SourceOptions } from '../../define.ts'

// Evidence: Crustdata's reference of POST /person/search/autocomplete (2025-11-01): {field, query, limit}, suggestions[].value.
const Suggestions = z.object({ suggestions: z.array(z.object({ value: z.string() })) })
const MAX_SHOWN = 50

/** The choices of regions. Sales Navigator uses the same names for people and for headquarters. */
export const regions: SourceOptions = {
  provider: crustdata,
  needs: { search: ['query', 'q'] },
  list: async (send, { search = '' }) => {
    const json = { field: 'basic_profile.location.full_location', query: search, limit: MAX_SHOWN }
    const reply = await send({ method: 'POST', path: '/person/search/autocomplete', json }, Suggestions)
    return mapReply(reply, ({ suggestions }) =>
      [...new Set(suggestions.map(({ value }) => value.trim()))]
        .filter((value) => value !== '')
        .map((value) => ({ value, label: value })),
    )
  },
}
