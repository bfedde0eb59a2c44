import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { entries, search } from '../../questions/search.ts'
import { linkup } from './provider.ts'

const Reply = z.object({
  results: z.array(z.object({ url: z.string(), name: WireText, content: WireText })),
})
/** The length of an excerpt, as of the snippets of other engines. Linkup returns whole pages. */
const MAX_EXCERPT = 500

export const linkupSearch = defineAdapter(search, linkup, {
  price: 0.5,
  run: (ask, { query, limit }) => {
    const json = { q: query, depth: 'standard', outputType: 'searchResults' }
    return ask({ method: 'POST', path: '/v1/search', json }, Reply, ({ results }) =>
      entries(
        results.map(({ url, name, content }) => ({
          url,
          title: name ?? '',
          snippet: (content ?? '').slice(0, MAX_EXCERPT).toWellFormed(),
        })),
        limit,
      ),
    )
  },
})
