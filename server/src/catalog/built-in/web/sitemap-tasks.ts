import { load } from 'cheerio'
import { nestingOf } from './nesting.ts'

const MAX_URLS = 2_000
const MAX_URL = 2_000
const MAX_DEPTH = 20

export const tasks = {
  /** Returns the addresses of the pages and of the further sitemaps in a sitemap. */
  sitemap(xml: string, _input: null): { pages: string[]; maps: string[] } {
    if (nestingOf(xml, 'xml') > MAX_DEPTH) return { pages: [], maps: [] }
    const $ = load(xml, { xml: true })
    const locations = (selector: string) =>
      $(selector)
        .toArray()
        .slice(0, MAX_URLS)
        .map((element) => $(element).text().trim())
        .filter((address) => address.length <= MAX_URL)
    return { pages: locations('urlset > url > loc'), maps: locations('sitemapindex > sitemap > loc') }
  },
}
