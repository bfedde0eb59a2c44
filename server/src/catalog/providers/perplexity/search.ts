import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { entries, search } from '../../questions/search.ts'
import { perplexity } from './provider.ts'

const Reply = z.object({
  results: z.array(z.object({ url: z.string(), title: WireText, snippet: WireText })),
})

export const perplexitySearch = defineAdapter(search, perplexity, {
  price: 0.5,
  run: (ask, { query, limit, country }) => {
    const place = country === '' ? {} : { country: country.toUpperCase() }
    const json = { query, max_results: Math.min(limit, 20), ...place }
    return ask({ method: 'POST', path: '/search', json }, Reply, ({ results }) =>
      entries(
        results.map(({ url, title, snippet }) => ({ url, title: title ?? '', snippet: snippet ?? '' })),
        limit,
      ),
    )
  },
})
