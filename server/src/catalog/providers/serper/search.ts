import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { entries, search } from '../../questions/search.ts'
import { serper } from './provider.ts'

const Reply = z.object({
  organic: z.array(z.object({ link: z.string(), title: WireText, snippet: WireText })).nullish(),
})

export const serperSearch = defineAdapter(search, serper, {
  price: 0.5,
  run: (ask, { query, limit, country }) => {
    const json = { q: query, num: limit, ...(country === '' ? {} : { gl: country.toLowerCase() }) }
    return ask({ method: 'POST', path: '/search', json }, Reply, ({ organic }) =>
      entries(
        (organic ?? []).map(({ link, title, snippet }) => ({
          title: title ?? '',
          url: link,
          snippet: snippet ?? '',
        })),
        limit,
      ),
    )
  },
})
