import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { entries, search } from '../../questions/search.ts'
import { firecrawl } from './provider.ts'

const List = z.array(z.object({ url: z.string(), title: WireText, description: WireText }))
/** A list of results, or lists by the kind of result. */
const Reply = z.object({ data: z.union([List, z.object({ web: List.nullish() })]) })

export const firecrawlSearch = defineAdapter(search, firecrawl, {
  price: 0.5,
  run: (ask, { query, limit, country }) => {
    const place = country === '' ? {} : { country: country.toUpperCase() }
    const json = { query, limit, sources: ['web'], ...place }
    return ask({ method: 'POST', path: '/v2/search', json }, Reply, ({ data }) =>
      entries(
        (Array.isArray(data) ? data : (data.web ?? [])).map(({ url, title, description }) => ({
          url,
          title: title ?? '',
          snippet: description ?? '',
        })),
        limit,
      ),
    )
  },
})
