import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { listNews, MAX_NEWS, news } from '../../questions/news.ts'
import { serper } from './provider.ts'

const Text = z.string().nullish()
const Story = z.object({ link: z.string(), title: Text, snippet: Text, date: Text, source: Text })
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
