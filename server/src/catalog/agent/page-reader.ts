import { LRUCache } from 'lru-cache'
import type { Config } from '../../lib/config/config.ts'
import { findChromium } from '../../lib/find-chromium.ts'
import { type Browser, type BrowserPool, createBrowserPool } from '../built-in/web/browser/browser.ts'
import { fetchPage, type Fetching, type Page } from '../built-in/web/page-fetch.ts'
import { readPdf } from '../built-in/web/pdf-text.ts'
import { readText } from './read-text.ts'
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
export type PageReader = {
  read(context: Fetching, url: string): Promise<PageRead>
  /** Draws pages; null where none is set up. */
  browser: Browser | null
}

const MAX_KEPT_BYTES = 64_000_000
const MAX_LINKS = 400

/** What reads pages in a process: what is read is kept for all, and all share one browser fairly. */
export type PageReaders = { of(owner: string): PageReader; close(): Promise<void> }

/** The readers of a process, by its settings. */
export function openPageReaders(config: Config): PageReaders {
  const path = findChromium(config.LOAM_BROWSER)
  const browsers = path === null ? null : createBrowserPool(path)
  return createPageReaders({ keepSeconds: config.LOAM_AGENT_PAGE_SECONDS, browsers })
}

type Reading = Promise<{ ok: true; page: AgentPage } | { ok: false; message: string }>

export function createPageReaders({
  keepSeconds,
  browsers = null,
}: {
  keepSeconds: number
  browsers?: BrowserPool | null
}): PageReaders {
  const kept =
    keepSeconds === 0
      ? null
      : new LRUCache<string, AgentPage>({
          maxSize: MAX_KEPT_BYTES,
          sizeCalculation: (page) => 1 + page.text.length + (page.links.length + page.listed.length) * 100,
          ttl: keepSeconds * 1000,
        })
  const underWay = new Map<string, Reading>()
  const readerWith = (browser: Browser | null): PageReader => ({
    browser,
    async read(context, url) {
      const known = kept?.get(url)
      if (known !== undefined) return { ok: true, page: known, cached: true }
      const shared = underWay.get(url)
      // Whoever began may be called off; who waited then reads for himself.
      const joined = shared === undefined ? undefined : await shared
      if (joined?.ok) return { ...joined, cached: true }
      const reading = fetchText(context, url, browser)
      underWay.set(url, reading)
      const result = await reading.finally(() => underWay.delete(url))
      if (!result.ok) return result
      kept?.set(url, result.page)
      return { ...result, cached: false }
    },
  })
  return {
    of: (owner) => readerWith(browsers?.of(owner) ?? null),
    close: async () => {
      await browsers?.close()
    },
  }
}

async function fetchText(context: Fetching, url: string, browser: Browser | null): Reading {
  const result = await fetchPage(context, url, 'document')
  if (!result.ok) return { ok: false, message: messageOf(result.outcome) }
  const { page } = result
  const bytes = page.bytes.length
  if (page.type === 'pdf') {
    const read = await readPdf(context, page.bytes)
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
  const sent = await readText(context, page)
  const read = browser !== null && isBare(page, sent) ? await drawText(context, page, sent, browser) : sent
  if (!read.ok) return read
  const { title, text, links } = read.value
  const listed = await listSite(context, page.url)
  return { ok: true, page: { url: page.url, title, text, links: links.slice(0, MAX_LINKS), listed, bytes } }
}

type Read = Awaited<ReturnType<typeof readText>>
const MIN_TEXT = 200

/** A page that says next to nothing until its scripts have run. */
const isBare = ({ text }: Page, read: Read): boolean =>
  read.ok && read.value.text.length < MIN_TEXT && /<script\b/i.test(text)

/** The page as a browser draws it, where that says more. */
async function drawText(context: Fetching, page: Page, sent: Read, browser: Browser): Promise<Read> {
  const drawn = await browser.draw(context, page.url)
  if (!drawn.ok) return sent
  const read = await readText(context, { ...page, text: drawn.html })
  const isMore = read.ok && (!sent.ok || read.value.text.length > sent.value.text.length)
  return isMore ? read : sent
}

function messageOf(outcome: { kind: string; message?: string }): string {
  return outcome.message ?? 'it could not be read'
}
