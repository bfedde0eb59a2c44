import { nestingOf } from './nesting.ts'
import { type Fetching, fetchPage } from './page-fetch.ts'
import { robotsOf } from './robots.ts'

const MAX_FILES = 5
const MAX_URLS = 2_000
const MAX_DEPTH = 20

/** Addresses that a site lists in its sitemaps; empty when it has none. Sitemaps of sitemaps are followed once. */
export async function readSitemap(context: Fetching, origin: string, maxFiles = MAX_FILES): Promise<URL[]> {
  const robots = await robotsOf(context.egress, origin)
  const named = robots.kind === 'rules' ? robots.sitemaps : []
  const queue = named.length > 0 ? named : [`${origin}/sitemap.xml`]
  const urls: URL[] = []
  const seen = new Set<string>()
  for (let at = 0; at < queue.length && seen.size < maxFiles && urls.length < MAX_URLS; at += 1) {
    if (context.signal.aborted) break
    const address = URL.parse(queue[at] ?? '', origin)?.href ?? ''
    if (address === '' || seen.has(address)) continue
    seen.add(address)
    const result = await fetchPage(context, address, 'xml')
    if (!result.ok) continue
    const { pages, maps } = await parseSitemap(result.page.text)
    urls.push(...pages)
    queue.push(...maps)
  }
  return urls.slice(0, MAX_URLS)
}

async function parseSitemap(xml: string): Promise<{ pages: URL[]; maps: string[] }> {
  if (nestingOf(xml, 'xml') > MAX_DEPTH) return { pages: [], maps: [] }
  const { load } = await import('cheerio')
  const $ = load(xml, { xml: true })
  const locations = (selector: string) =>
    $(selector)
      .toArray()
      .slice(0, MAX_URLS)
      .map((element) => $(element).text().trim())
  const pages = locations('urlset > url > loc').flatMap((text) => URL.parse(text) ?? [])
  return { pages, maps: locations('sitemapindex > sitemap > loc') }
}
