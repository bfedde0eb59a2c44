import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { entries, search } from '../../questions/search.ts'
import { exa } from './provider.ts'

const Reply = z.object({ results: z.array(z.object({ url: z.string(), title: WireText, text: WireText })) })
const SNIPPET = 300

export const exaSearch = defineAdapter(search, exa, {
  price: 0.5,
  run: (ask, { query, limit }) => {
    const json = { query, numResults: limit, contents: { text: { maxCharacters: SNIPPET } } }
    return ask({ method: 'POST', path: '/search', json }, Reply, ({ results }) =>
      entries(
        results.map(({ url, title, text }) => ({ title: title ?? '', url, snippet: text ?? '' })),
        limit,
      ),
    )
  },
})
