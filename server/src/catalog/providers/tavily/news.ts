import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { listNews, MAX_NEWS, news } from '../../questions/news.ts'
import { tavily } from './provider.ts'

const Story = z.object({ url: z.string(), title: WireText, content: WireText, published_date: WireText })
const Reply = z.object({ results: z.array(Story) })

export const tavilyNews = defineAdapter(news, tavily, {
  price: 0,
  run: (ask, { query, since, now }) => {
    const json = {
      query,
      topic: 'news',
      start_date: since.toISOString().slice(0, 10),
      max_results: MAX_NEWS,
    }
    return ask({ method: 'POST', path: '/search', json }, Reply, ({ results }) =>
      listNews(
        results.map(({ url, title, content, published_date }) => ({
          url,
          title,
          date: published_date,
          summary: content,
        })),
        now,
      ),
    )
  },
})
