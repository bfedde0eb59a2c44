import { tasksOf } from '../../../lib/readers/readers.ts'
import { type Fetching, fetchHome, fetchPage, type Page, type PageFailure } from '../web/page-fetch.ts'
import { readPage } from '../web/read-page.ts'
import type { Site } from '../web/site.ts'
import { pagesAbout, readPages } from '../web/useful-pages.ts'
import type { tasks } from './feed.ts'
import type { NewsItem } from './news-item.ts'

const MAX_FEEDS = 3
const readIn = tasksOf<typeof tasks>(new URL('feed.ts', import.meta.url))
const USUAL = ['/feed', '/rss', '/blog/feed', '/feed.xml', '/rss.xml', '/atom.xml']

/**
 * Reads the stories in the feeds of a site: the feeds that its home page or news page declares, else those at the usual
 * addresses.
 */
export async function readSiteFeeds(context: Fetching, site: Site): Promise<NewsItem[] | PageFailure> {
  const result = await fetchHome(context, site.homes)
  if (!result.ok) return result
  const read = await readPage(context, result.page, ['feeds'])
  const home = read.ok ? read.page : null
  const declared = home === null ? [] : home.feeds
  const newsPages =
    home === null || declared.length > 0
      ? []
      : await readPages(context, pagesAbout('news', home), { most: 2, parts: ['feeds'] })
  const feeds = [...new Set([...declared, ...newsPages.flatMap((page) => page.feeds)])].slice(0, MAX_FEEDS)
  const items: NewsItem[] = []
  for (const feed of feeds.length > 0 ? feeds : USUAL.map((path) => new URL(path, result.page.url).href)) {
    const page = await fetchPage(context, feed, 'xml')
    const read = page.ok ? await readFeed(context, page.page) : null
    if (read?.ok === true) items.push(...read.value)
    if (feeds.length === 0 && items.length > 0) break
  }
  return items
}

const readFeed = ({ owner = '', signal }: Fetching, { text, url }: Page) =>
  readIn('feed', { owner, signal, document: text, what: 'document' }, { url })
