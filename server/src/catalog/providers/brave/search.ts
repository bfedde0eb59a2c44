import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { entries, search } from '../../questions/search.ts'
import { brave } from './provider.ts'

const Found = z.array(z.object({ url: z.string(), title: WireText, description: WireText }))
const Reply = z.object({ web: z.object({ results: Found.nullish() }).nullish() })

export const braveSearch = defineAdapter(search, brave, {
  price: 0.5,
  run: (ask, { query, limit, country }) => {
    const asked = { q: query, count: Math.min(limit, 20), country: country.toUpperCase() || undefined }
    return ask({ path: '/res/v1/web/search', query: asked }, Reply, ({ web }) =>
      entries(
        (web?.results ?? []).map(({ url, title, description }) => ({
          title: title ?? '',
          url,
          snippet: description ?? '',
        })),
        limit,
      ),
    )
  },
})
