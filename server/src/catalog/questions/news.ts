import { z } from 'zod'
import type { NewsItem } from '../built-in/news/news-item.ts'
import { type Found, hit, type QuestionKind, MISS } from '../provider/adapter.ts'

export type NewsQuestion = { query: string; since: Date; now: Date }

const Item = z.object({
  title: z.string().min(1),
  url: z.string(),
  published_at: z.iso.datetime(),
  source: z.string(),
  summary: z.string().nullable(),
})

export const news: QuestionKind<NewsQuestion, NewsItem[]> = { result: z.array(Item) }

export const MAX_NEWS = 20

type Story = Record<'title' | 'url' | 'date' | 'source' | 'summary', string | null | undefined>

/** Returns the stories that have a title, an address and a date. If there are none, it is a miss. */
export function listNews(stories: readonly Partial<Story>[], now: Date): Found<NewsItem[]> {
  const items = stories.flatMap(({ title, url, date, source, summary }): NewsItem[] => {
    const published_at = readDate(date, now)
    const host = URL.parse(url ?? '')?.hostname.replace(/^www\./, '')
    if (!title || !url || host === undefined || published_at === null) return []
    return [{ title, url, published_at, source: source || host, summary: summary || null }]
  })
  return items.length === 0 ? MISS : hit(items)
}

const UNITS: Record<string, number> = { minute: 60, hour: 3600, day: 86_400, week: 604_800, month: 2_629_800 }

/** Returns a date in any common form, or `3 days ago`, as ISO 8601, or null if it cannot be read. */
function readDate(text: string | null | undefined, now: Date): string | null {
  const [, count = '', unit = ''] = /^(\d+) (minute|hour|day|week|month)s? ago$/i.exec(text ?? '') ?? []
  const seconds = UNITS[unit.toLowerCase()]
  const date =
    seconds === undefined ? new Date(text ?? '') : new Date(now.getTime() - Number(count) * seconds * 1000)
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}
