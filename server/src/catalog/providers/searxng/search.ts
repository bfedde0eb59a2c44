import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { entries, search } from '../../questions/search.ts'
import { searxng } from './provider.ts'

const Reply = z.object({
  results: z.array(z.object({ url: z.string(), title: WireText, content: WireText })),
})

export const searxngSearch = defineAdapter(search, searxng, {
  price: 0.5,
  run: (ask, { query, limit, country }) => {
    const language = country === '' ? undefined : `all-${country.toUpperCase()}`
    return ask({ path: '/search', query: { format: 'json', q: query, language } }, Reply, ({ results }) =>
      entries(
        results.map(({ url, title, content }) => ({ title: title ?? '', url, snippet: content ?? '' })),
        limit,
      ),
    )
  },
})
