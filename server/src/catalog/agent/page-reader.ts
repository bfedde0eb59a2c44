import { LRUCache } from 'lru-cache'
import { fetchPage, type Fetching } from '../built-in/web/page-fetch.ts'
import { readPdf } from '../built-in/web/pdf-text.ts'
import { readPageText } from './page-text.ts'
import { listSite } from './site-pages.ts'

/** A page as the agent knows it. */
export type AgentPage = {
  /** Where it was found, after redirects. */
  url: string
  title: string | null
  text: string
  links: { url: string; text: string }[]
  /** Other pages of the site, by its sitemap, where this is the home page. */
  listed: string[]
  /** As it was sent. */
  bytes: number
}
export type PageRead = { ok: true; page: AgentPage; cached: boolean } | { ok: false; message: string }

/** Reads pages, and keeps them for a while for everybody who asks: rows of one chain often need the same. */
export type PageReader = { read(context: Fetching, url: string): Promise<PageRead> }

const MAX_KEPT_BYTES = 64_000_000
const MAX_LINKS = 400

type Reading = Promise<{ ok: true; page: AgentPage } | { ok: false; message: string }>

export function createPageReader({ keepSeconds }: { keepSeconds: number }): PageReader {
  const kept =
    keepSeconds === 0
      ? null
      : new LRUCache<string, AgentPage>({
          maxSize: MAX_KEPT_BYTES,
          sizeCalculation: (page) => 1 + page.text.length + (page.links.length + page.listed.length) * 100,
          ttl: keepSeconds * 1000,
        })
  const underWay = new Map<string, Reading>()
  return {
    async read(context, url) {
      const known = kept?.get(url)
      if (known !== undefined) return { ok: true, page: known, cached: true }
      const shared = underWay.get(url)
      // Whoever began may be called off; who waited then reads for himself.
      const joined = shared === undefined ? undefined : await shared
      if (joined?.ok) return { ...joined, cached: true }
      const reading = fetchText(context, url)
      underWay.set(url, reading)
      const result = await reading.finally(() => underWay.delete(url))
      if (!result.ok) return result
      kept?.set(url, result.page)
      return { ...result, cached: false }
    },
  }
}

async function fetchText(context: Fetching, url: string): Reading {
  const result = await fetchPage(context, url, 'document')
  if (!result.ok) return { ok: false, message: messageOf(result.outcome) }
  const { page } = result
  const bytes = page.bytes.length
  if (page.type === 'pdf') {
    const read = await readPdf(page.bytes, context.signal)
    if (!read.ok) return read
    return {
      ok: true,
      page: { url: page.url, title: read.title, text: read.text, links: [], listed: [], bytes },
    }
  }
  if (page.type === 'text') {
    return {
      ok: true,
      page: { url: page.url, title: null, text: page.text.slice(0, 200_000), links: [], listed: [], bytes },
    }
  }
  const read = readPageText(page)
  if (!read.ok) return read
  const { title, text, links } = read.value
  const listed = await listSite(context, page.url)
  return { ok: true, page: { url: page.url, title, text, links: links.slice(0, MAX_LINKS), listed, bytes } }
}

function messageOf(outcome: { kind: string; message?: string }): string {
  return outcome.message ?? 'it could not be read'
}
