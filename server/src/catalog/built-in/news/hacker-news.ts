import { z } from 'zod'
import { plural } from '../../../lib/plural.ts'
import { hasText } from '../../../lib/search.ts'
import { clean } from '../web/document.ts'
import type { Fetching } from '../web/page-fetch.ts'
import type { NewsItem } from './news-item.ts'

const Reply = z.object({
  hits: z.array(
    z.object({
      objectID: z.string(),
      title: z.string().nullish(),
      url: z.string().nullish(),
      created_at: z.string(),
      story_text: z.string().nullish(),
      points: z.number().nullish(),
      num_comments: z.number().nullish(),
    }),
  ),
})

export type Query = { name?: string | undefined; domain?: string | undefined }
type FoundStories = { ok: true; items: NewsItem[] } | { ok: false; message: string }

/** Finds stories on Hacker News that name the company or link to its domain. */
export async function searchHackerNews(
  { egress, signal }: Fetching,
  { name, domain }: Query,
  since: Date,
): Promise<FoundStories> {
  const parameters = new URLSearchParams({
    query: name ?? domain ?? '',
    tags: 'story',
    hitsPerPage: '50',
    numericFilters: `created_at_i>${Math.floor(since.getTime() / 1000)}`,
  })
  const base = egress.baseUrl('hn', 'https://hn.algolia.com')
  const url = `${base}/api/v1/search?${parameters.toString()}`
  const reply = await egress.fetch({ url, timeoutMs: 15_000, maxBytes: 2_000_000, signal })
  if (!reply.ok) return { ok: false, message: reply.message }
  if (reply.status >= 300) return { ok: false, message: `Hacker News answers HTTP ${reply.status}` }
  const json = await reply.json()
  const parsed = json.ok ? Reply.safeParse(json.value) : null
  if (parsed?.success !== true)
    return { ok: false, message: 'Hacker News sent a reply that is not a list of stories' }
  const items = parsed.data.hits.flatMap((hit): NewsItem[] => {
    const title = clean(hit.title ?? '', 300)
    const date = new Date(hit.created_at)
    const address = hit.url || `https://news.ycombinator.com/item?id=${hit.objectID}`
    if (title === null || Number.isNaN(date.getTime()) || !isAbout({ title, address }, { name, domain }))
      return []
    const popularity = `${plural(hit.points ?? 0, 'point')}, ${plural(hit.num_comments ?? 0, 'comment')} on Hacker News`
    const summary = clean(hit.story_text?.replace(/<[^<>]{0,500}>/g, ' ') ?? '', 500) ?? popularity
    return [{ title, url: address, published_at: date.toISOString(), source: 'Hacker News', summary }]
  })
  return { ok: true, items }
}

/**
 * Returns true if a story is about the company. The search tolerates typing errors, so it also finds stories about
 * others.
 */
function isAbout(story: { title: string; address: string }, { name, domain }: Query): boolean {
  const words = (text: string) =>
    ` ${text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, ' ')
      .trim()} `
  if (name !== undefined && hasText(words(story.title), words(name))) return true
  const host = URL.parse(story.address)?.hostname ?? ''
  return (
    domain !== undefined && (host === domain || host.endsWith(`.${domain}`) || hasText(story.title, domain))
  )
}
