import { LRUCache } from 'lru-cache'
import type { Config } from '../../lib/config/config.ts'
import { findChromium } from '../../lib/find-chromium.ts'
import { type Browser, type BrowserPool, createBrowserPool } from '../built-in/web/browser/browser.ts'
import { fetchPage, type Fetching, type Page } from '../built-in/web/page-fetch.ts'
import { readPdf } from '../built-in/web/pdf-text.ts'
import { readText } from './read-text.ts'
import { listSite } from './site-pages.ts'

/** A page that the agent has read. */
export type AgentPage = {
  /** The address of the page, after redirects. */
  url: string
  title: string | null
  text: string
  links: { url: string; text: string }[]
  /** The other pages of the site, from its sitemap, if this is the home page. */
  listed: string[]
  /** The size of the body as it was sent. */
  bytes: number
}
export type PageRead = { ok: true; page: AgentPage; cached: boolean } | { ok: false; message: string }

/** Reads pages and caches them for a while for all organisations, because rows of one chain often need the same pages. */
export type PageReader = {
  read(context: Fetching, url: string): Promise<PageRead>
  /** The browser that renders pages, or null if none is set up. */
  browser: Browser | null
}

const MAX_KEPT_BYTES = 64_000_000
const MAX_LINKS = 400

/** The page readers of a process. They share one cache, and one browser that serves the organisations in turn. */
export type PageReaders = { of(owner: string): PageReader; close(): Promise<void> }

/** Creates the page readers of a process from its settings. */
export function openPageReaders(config: Config): PageReaders {
  const path = findChromium(config.LOAM_BROWSER)
  const browsers = path === null ? null : createBrowserPool(path)
  return createPageReaders({ keepSeconds: config.LOAM_AGENT_PAGE_SECONDS, browsers })
}

type Reading = Promise<{ ok: true; page: AgentPage } | { ok: false; message: string }>
/** A fetch that callers of the same page share, with the signal of the caller that began it. */
type SharedFetch = { reading: Reading; signal: AbortSignal }

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
  const inFlight = new Map<string, SharedFetch>()
  const createReader = (browser: Browser | null): PageReader => ({
    browser,
    async read(context, url) {
      const known = kept?.get(url)
      if (known !== undefined) return { ok: true, page: known, cached: true }
      let shared: SharedFetch | undefined
      while ((shared = inFlight.get(url)) !== undefined) {
        const joined = await shared.reading
        if (joined.ok) return { ...joined, cached: true }
        // A failure is the page's, unless the caller that began was cancelled. Then the first that waited begins again.
        if (!shared.signal.aborted) return joined
      }
      const reading = fetchAgentPage(context, url, browser).finally(() => inFlight.delete(url))
      inFlight.set(url, { reading, signal: context.signal })
      const result = await reading
      if (!result.ok) return result
      kept?.set(url, result.page)
      return { ...result, cached: false }
    },
  })
  return {
    of: (owner) => createReader(browsers?.of(owner) ?? null),
    close: async () => {
      await browsers?.close()
    },
  }
}

async function fetchAgentPage(context: Fetching, url: string, browser: Browser | null): Reading {
  const result = await fetchPage(context, url, 'document')
  if (!result.ok) return { ok: false, message: describeFailure(result.outcome) }
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

/** Returns true if a page has almost no text until its scripts run. */
const isBare = ({ text }: Page, read: Read): boolean =>
  read.ok && read.value.text.length < MIN_TEXT && /<script\b/i.test(text)

/** Returns the text of the page as the browser renders it, if that is longer than the text that was sent. */
async function drawText(context: Fetching, page: Page, sent: Read, browser: Browser): Promise<Read> {
  const drawn = await browser.draw(context, page.url)
  if (!drawn.ok) return sent
  const read = await readText(context, { ...page, text: drawn.html })
  const isMore = read.ok && (!sent.ok || read.value.text.length > sent.value.text.length)
  return isMore ? read : sent
}

function describeFailure(outcome: { kind: string; message?: string }): string {
  return outcome.message ?? 'the site gave no reason'
}
