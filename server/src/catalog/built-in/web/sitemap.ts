import { tasksOf } from '../../../lib/readers/readers.ts'
import { type Fetching, fetchPage } from './page-fetch.ts'
import { robotsOf } from './robots.ts'
import type { tasks } from './sitemap-tasks.ts'

const MAX_FILES = 5
const MAX_URLS = 2_000

const readIn = tasksOf<typeof tasks>(new URL('sitemap-tasks.ts', import.meta.url))

/**
 * Returns the addresses in the sitemaps of a site, or an empty list if it has none. Sitemaps of sitemaps are followed up
 * to `maxFiles` files.
 */
export async function readSitemap(context: Fetching, origin: string, maxFiles = MAX_FILES): Promise<URL[]> {
  const robots = await robotsOf(context.egress, origin)
  const declared = robots.kind === 'rules' ? robots.sitemaps : []
  const queue = declared.length > 0 ? declared : [`${origin}/sitemap.xml`]
  const urls: URL[] = []
  const seen = new Set<string>()
  for (let at = 0; at < queue.length && seen.size < maxFiles && urls.length < MAX_URLS; at += 1) {
    if (context.signal.aborted) break
    const address = URL.parse(queue[at] ?? '', origin)?.href ?? ''
    if (address === '' || seen.has(address)) continue
    seen.add(address)
    const result = await fetchPage(context, address, 'xml')
    if (!result.ok) continue
    const { owner = '', signal } = context
    const reading = { owner, signal, document: result.page.text, what: 'document' } as const
    const read = await readIn('sitemap', reading, null)
    // A sitemap that cannot be parsed is skipped like a missing one.
    if (!read.ok) continue
    urls.push(...read.value.pages.flatMap((page) => URL.parse(page) ?? []))
    queue.push(...read.value.maps)
  }
  return urls.slice(0, MAX_URLS)
}
