import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { listNews, news } from '../../questions/news.ts'
import { searxng } from './provider.ts'

const Reply = z.object({
  results: z.array(
    z.object({ url: z.string(), title: WireText, content: WireText, publishedDate: WireText }),
  ),
})

export const searxngNews = defineAdapter(news, searxng, {
  price: 0,
  run: (ask, { query, now }) => {
    const asked = { format: 'json', q: query, categories: 'news' }
    return ask({ path: '/search', query: asked }, Reply, ({ results }) =>
      listNews(
        results.map(({ url, title, content, publishedDate }) => ({
          url,
          title,
          date: publishedDate,
          summary: content,
        })),
        now,
      ),
    )
  },
})
