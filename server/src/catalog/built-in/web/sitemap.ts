import { tasksOf } from '../../../lib/readers/readers.ts'
import { type Fetching, fetchPage } from './page-fetch.ts'
import { robotsOf } from './robots.ts'
import type { tasks } from './sitemap-tasks.ts'

const MAX_FILES = 5
const MAX_URLS = 2_000

const readIn = tasksOf<typeof tasks>(new URL('sitemap-tasks.ts', import.meta.url))

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
    const { owner = '', signal } = context
    const reading = { owner, signal, document: result.page.text, what: 'document' } as const
    const read = await readIn('sitemap', reading, null)
    // One that cannot be read is done without, as one that is not there.
    if (!read.ok) continue
    urls.push(...read.value.pages.flatMap((page) => URL.parse(page) ?? []))
    queue.push(...read.value.maps)
  }
  return urls.slice(0, MAX_URLS)
}
