import { type Fetching, withSignal } from '../built-in/web/page-fetch.ts'
import { isSameSite } from '../built-in/web/site.ts'
import { readSitemap } from '../built-in/web/sitemap.ts'
import { decodePath, depthOf, isFile, type Topic, TOPICS } from '../built-in/web/useful-pages.ts'
import { plain } from './quotes.ts'

const MAX_FILES = 3
const MAX_LISTED = 500
const TIMEOUT_MS = 5000
const MAX_SHOWN = 15

/**
 * Returns the pages in the sitemap of a site, if `page` is its home page. A sitemap that takes longer than TIMEOUT_MS is
 * ignored.
 */
export async function listSite(context: Fetching, page: string): Promise<string[]> {
  const home = new URL(page)
  if (home.pathname !== '/' || home.search !== '') return []
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(TIMEOUT_MS)])
  const listed = await readSitemap(withSignal(context, signal), home.origin, MAX_FILES)
  const urls = listed.filter((url) => isSameSite(url, home) && !isFile(url) && url.href !== home.href)
  return [...new Set(urls.map(({ href }) => href))].slice(0, MAX_LISTED)
}

/** The score of a page by its topic, when nothing better is known. */
const USUAL: Partial<Record<Topic, number>> = { about: 2, team: 1.5, imprint: 1, contact: 1, product: 0.5 }
const MATCH_SCORE = 3

/** Returns the listed pages whose addresses match the words of `lookingFor`, the best match first. */
export function rankListed(listed: readonly string[], lookingFor: string): string[] {
  const terms = [...new Set(plain(lookingFor).match(/[\p{L}\p{N}]{3,}/gu) ?? [])]
  const topics = Object.keys(TOPICS) as Topic[]
  const wantedTopics = new Set(topics.filter((topic) => TOPICS[topic].test(lookingFor)))
  const scoreOf = (url: URL): number => {
    const path = decodePath(url.pathname)
    const words = new Set(plain(path).match(/[\p{L}\p{N}]{3,}/gu) ?? [])
    const named = terms.filter((term) => words.has(term)).length * MATCH_SCORE
    const about = topics
      .filter((topic) => TOPICS[topic].test(path))
      .map((topic) => (USUAL[topic] ?? 0) + (wantedTopics.has(topic) ? MATCH_SCORE : 0))
    return named + Math.max(0, ...about)
  }
  return listed
    .map((href) => new URL(href))
    .map((url) => ({ url, score: scoreOf(url) }))
    .sort((one, other) => other.score - one.score || depthOf(one.url) - depthOf(other.url))
    .slice(0, MAX_SHOWN)
    .map(({ url }) => url.href)
}
