import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { entries, search } from '../../questions/search.ts'
import { tavily } from './provider.ts'

const Reply = z.object({
  results: z.array(z.object({ url: z.string(), title: WireText, content: WireText })),
})

export const tavilySearch = defineAdapter(search, tavily, {
  price: 0.5,
  run: (ask, { query, limit }) => {
    const json = { query, max_results: Math.min(limit, 20) }
    return ask({ method: 'POST', path: '/search', json }, Reply, ({ results }) =>
      entries(
        results.map(({ url, title, content }) => ({ title: title ?? '', url, snippet: content ?? '' })),
        limit,
      ),
    )
  },
})
