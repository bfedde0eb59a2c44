import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { listNews, news } from '../../questions/news.ts'
import { searxng } from './provider.ts'

const Text = z.string().nullish()
const Reply = z.object({
  results: z.array(z.object({ url: z.string(), title: Text, content: Text, publishedDate: Text })),
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
