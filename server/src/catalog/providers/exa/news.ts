import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { listNews, MAX_NEWS, news } from '../../questions/news.ts'
import { exa } from './provider.ts'

const Story = z.object({ url: z.string(), title: WireText, text: WireText, publishedDate: WireText })
const Reply = z.object({ results: z.array(Story) })
const SUMMARY = 300

export const exaNews = defineAdapter(news, exa, {
  price: 0,
  run: (ask, { query, since, now }) => {
    const json = {
      query,
      category: 'news',
      startPublishedDate: since.toISOString(),
      numResults: MAX_NEWS,
      contents: { text: { maxCharacters: SUMMARY } },
    }
    return ask({ method: 'POST', path: '/search', json }, Reply, ({ results }) =>
      listNews(
        results.map(({ url, title, text, publishedDate }) => ({
          url,
          title,
          date: publishedDate,
          summary: text,
        })),
        now,
      ),
    )
  },
})
