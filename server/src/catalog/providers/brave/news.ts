import { z } from 'zod'
import { defineAdapter } from '../../provider/adapter.ts'
import { WireText } from '../../provider/wire-fields.ts'
import { listNews, MAX_NEWS, news } from '../../questions/news.ts'
import { brave } from './provider.ts'

const Story = z.object({
  url: z.string(),
  title: WireText,
  description: WireText,
  age: WireText,
  page_age: WireText,
})
const Reply = z.object({ results: z.array(Story).nullish() })

export const braveNews = defineAdapter(news, brave, {
  price: 0,
  run: (ask, { query, now }) => {
    const asked = { q: query, count: MAX_NEWS }
    return ask({ path: '/res/v1/news/search', query: asked }, Reply, ({ results }) =>
      listNews(
        (results ?? []).map(({ url, title, description, age, page_age }) => ({
          url,
          title,
          date: page_age ?? age,
          summary: description,
        })),
        now,
      ),
    )
  },
})
