import { compareTexts, trimEnd } from '../../../lib/plain-text.ts'
export type NewsItem = {
  title: string
  url: string
  /** The time in ISO 8601. */
  published_at: string
  source: string
  summary: string | null
}

const MAX_ITEMS = 100
const TRACKING = /^(utm_\w+|fbclid|gclid|mc_cid|mc_eid|ref|source)$/i

/**
 * Sorts the stories with the newest first, and removes duplicates: stories with the same address, or with the same title
 * on the same day.
 */
export function sortNews(items: readonly NewsItem[], since: Date): NewsItem[] {
  const seen = new Set<string>()
  const isNew = (item: NewsItem) => {
    const title = item.title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')
    const keys = [bareAddress(item.url), `${title} ${item.published_at.slice(0, 10)}`]
    if (keys.some((key) => seen.has(key))) return false
    for (const key of keys) seen.add(key)
    return true
  }
  return items
    .filter(({ published_at }) => published_at >= since.toISOString())
    .sort((a, b) => compareTexts(b.published_at, a.published_at))
    .filter(isNew)
    .slice(0, MAX_ITEMS)
}

/** The longest address that is compared without its tracking. Removing the parameters of a longer one takes quadratic time. */
const LONGEST_ADDRESS = 2000

function bareAddress(address: string): string {
  const url = address.length > LONGEST_ADDRESS ? null : URL.parse(address)
  if (url === null) return address
  const tracking = [...url.searchParams.keys()].filter((name) => TRACKING.test(name))
  for (const name of tracking) url.searchParams.delete(name)
  return `${url.host.replace(/^www\./, '')}${trimEnd(url.pathname, '/')}${url.search}`
}
