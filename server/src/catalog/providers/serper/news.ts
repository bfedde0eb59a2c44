import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { listNews, MAX_NEWS, news } from '../../questions/news.ts'
import { serper } from './provider.ts'

const Story = z.object({
  link: z.string(),
  title: WireText,
  snippet: WireText,
  date: WireText,
  source: WireText,
})
const Reply = z.object({ news: z.array(Story).nullish() })

export const serperNews = defineAdapter(news, serper, {
  price: 0,
  run: (ask, { query, now }) => {
    const json = { q: query, num: MAX_NEWS }
    return ask({ method: 'POST', path: '/news', json }, Reply, ({ news: found }) =>
      listNews(
        (found ?? []).map(({ link, snippet, ...story }) => ({ ...story, url: link, summary: snippet })),
        now,
      ),
    )
  },
})
