import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { entries, search } from '../../questions/search.ts'
import { searxng } from './provider.ts'

const Text = z.string().nullish()
const Reply = z.object({ results: z.array(z.object({ url: z.string(), title: Text, content: Text })) })

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
