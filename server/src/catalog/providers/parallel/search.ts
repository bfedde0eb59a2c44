import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { entries, search } from '../../questions/search.ts'
import { parallel } from './provider.ts'

const Found = z.object({ url: z.string(), title: WireText, excerpts: z.array(z.string()).nullish() })
const Reply = z.object({ results: z.array(Found) })
/** The length of an excerpt, as of the snippets of other engines. */
const MAX_EXCERPT = 500

export const parallelSearch = defineAdapter(search, parallel, {
  price: 0.5,
  run: (ask, { query, limit }) => {
    const json = {
      objective: query,
      search_queries: [query],
      advanced_settings: {
        max_results: limit,
        excerpt_settings: { max_chars_per_result: MAX_EXCERPT },
      },
    }
    return ask({ method: 'POST', path: '/v1/search', json }, Reply, ({ results }) =>
      entries(
        results.map(({ url, title, excerpts }) => ({
          url,
          title: title ?? '',
          snippet: excerpts?.[0] ?? '',
        })),
        limit,
      ),
    )
  },
})
