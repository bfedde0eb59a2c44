import { type CheerioAPI, load } from 'cheerio'
import { clean } from '../web/document.ts'
import { nestingOf } from '../web/nesting.ts'
import type { NewsItem } from './news-item.ts'

const MAX_ITEMS = 200
const SUMMARY = 500
// Text with markup in a feed stands in CDATA or XHTML, which is nested as deep as an article.
const MAX_DEPTH = 200
const MAX_HTML = 20_000

/** Returns the stories of an RSS 2.0, RSS 1.0 or Atom feed. A story without a date or an address is left out. */
function parseFeed(text: string, url: string): NewsItem[] {
  if (nestingOf(text, 'xml') > MAX_DEPTH) return []
  const $ = load(text, { xml: true })
  const source = clean($('channel > title, feed > title').first().text(), 200) ?? new URL(url).hostname
  return $('item, entry')
    .toArray()
    .slice(0, MAX_ITEMS)
    .flatMap((entry) => {
      const child = (...names: string[]) =>
        names
          .map((name) => $(entry).children(name.replace(':', '\\:')).first().text().trim())
          .find((value) => value !== '')
      const title = clean(toText(child('title') ?? ''), 300)
      const address = URL.parse(linkOf($, entry) ?? '', url)
      const date = new Date(child('pubDate', 'published', 'dc:date', 'updated', 'date') ?? '')
      if (title === null || address === null || !/^https?:$/.test(address.protocol)) return []
      if (Number.isNaN(date.getTime())) return []
      const summary = clean(
        toText(child('description', 'summary', 'content:encoded', 'content') ?? ''),
        SUMMARY,
      )
      return [{ title, url: address.href, published_at: date.toISOString(), source, summary }]
    })
}

type Entry = Parameters<CheerioAPI>[0]

/**
 * Returns the link of a story. Atom has links as attributes, and the link to the story has the rel "alternate" or none.
 */
function linkOf($: CheerioAPI, entry: Entry): string | undefined {
  const links = $(entry).children('link')
  const text = links.first().text().trim()
  if (text !== '') return text
  const atom = links.filter((_, link) => ['alternate', undefined].includes($(link).attr('rel')))
  const permalink = $(entry).children('guid:not([isPermaLink="false"])').first().text().trim()
  return atom.first().attr('href') ?? (permalink === '' ? undefined : permalink)
}

function toText(html: string): string {
  const short = html.slice(0, MAX_HTML)
  if (!short.includes('<')) return short
  return nestingOf(short, 'html') > MAX_DEPTH ? short : load(short).text()
}

export const tasks = { feed: (text: string, { url }: { url: string }) => parseFeed(text, url) }
