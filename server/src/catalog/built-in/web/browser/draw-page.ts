import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserContext, Page, Request, Route } from 'playwright-core'
import type { Fetching } from '../page-fetch.ts'
import { openProxy } from './proxy.ts'

/** Why a page was not drawn. */
export class DrawFault extends Error {}

export type PageBounds = { maxRequests: number; maxBytes: number; settleMs: number }

const MAX_HTML_LENGTH = 5_000_000
/** A page that has loaded, and has asked for nothing for so long, is taken for complete. */
const QUIET_MS = 500
const CLOSE_MS = 5000
/** What takes bytes and is not read. */
const LEFT_OUT = new Set(['image', 'media', 'font'])

/** The document as it stands, read in a world of its own, where scripts of the page have changed nothing. */
const READ_DOCUMENT = `(() => {
  const html = document.documentElement?.outerHTML ?? ''
  return html.length > ${MAX_HTML_LENGTH} ? null : html
})()`

/** Draws a page in a context of its own, whose only way out is a proxy of its own. Throws a DrawFault, or what Chromium says. */
export async function drawPage(
  browser: Browser,
  { egress, signal }: Pick<Fetching, 'egress' | 'signal'>,
  url: string,
  bounds: PageBounds,
  /** Called when the browser does not answer any more. */
  onStuck: () => void,
): Promise<string> {
  if (signal.aborted) throw new DrawFault('it took too long')
  const proxy = await openProxy(egress, signal, bounds)
  const over = Promise.withResolvers<never>()
  const onAbort = () => over.reject(new DrawFault('it took too long'))
  // Calls that are under way when a browser dies are not always told.
  const onLost = () => over.reject(new Error('the browser ended'))
  signal.addEventListener('abort', onAbort, { once: true })
  browser.once('disconnected', onLost)
  const opening = browser.newContext({
    proxy: { server: `http://127.0.0.1:${proxy.port}`, bypass: '<-loopback>' },
    serviceWorkers: 'block',
    acceptDownloads: false,
  })
  const work = async () => {
    const context = await opening
    await context.route('**/*', limitRequests(bounds.maxRequests))
    const page = await context.newPage()
    page.once('crash', () => over.reject(new DrawFault('it crashed, or took too much memory')))
    context.on('page', (other) => void other.close().catch(() => undefined))
    const quiet = whenQuiet(page)
    await page.goto(url, { waitUntil: 'commit', timeout: 0 })
    await Promise.race([quiet, sleep(bounds.settleMs, null, { ref: false })])
    return readPage(context, page)
  }
  try {
    return await Promise.race([work(), over.promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
    browser.removeListener('disconnected', onLost)
    await Promise.all([browser.isConnected() ? closeContext(opening, onStuck) : null, proxy.close()])
  }
}

function limitRequests(most: number): (route: Route) => void {
  let requests = 0
  return (route) => {
    requests += 1
    const isWanted = requests <= most && !LEFT_OUT.has(route.request().resourceType())
    // The page may be gone by now.
    void (isWanted ? route.continue() : route.abort()).catch(() => undefined)
  }
}

/** Resolves when the page has loaded, scripts in it included, and waits for no answer any more. */
function whenQuiet(page: Page): Promise<void> {
  return new Promise((resolve) => {
    const open = new Set<Request>()
    let isLoaded = false
    let timer: NodeJS.Timeout | undefined
    const check = () => {
      clearTimeout(timer)
      if (isLoaded && open.size === 0) timer = setTimeout(resolve, QUIET_MS).unref()
    }
    const close = (request: Request) => {
      open.delete(request)
      check()
    }
    page.on('request', (request) => {
      const before = request.redirectedFrom()
      if (before !== null) open.delete(before)
      open.add(request)
      check()
    })
    page.on('requestfinished', close)
    page.on('requestfailed', close)
    page.on('load', () => {
      isLoaded = true
      check()
    })
  })
}

async function readPage(context: BrowserContext, page: Page): Promise<string> {
  const session = await context.newCDPSession(page)
  const { frameTree } = await session.send('Page.getFrameTree')
  const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', {
    frameId: frameTree.frame.id,
  })
  const { result } = await session.send('Runtime.evaluate', {
    expression: READ_DOCUMENT,
    contextId,
    returnByValue: true,
  })
  // What Chromium shows in place of a page that it could not load is none.
  if (!/^https?:/.test(page.url())) throw new DrawFault('it led to what is no http or https address')
  if (typeof result.value !== 'string') throw new DrawFault('it is too large')
  return result.value
}

async function closeContext(opening: Promise<BrowserContext>, onStuck: () => void): Promise<void> {
  const closing = opening.then((context) => context.close()).catch(() => undefined)
  let timer: NodeJS.Timeout | undefined
  const given = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      onStuck()
      resolve()
    }, CLOSE_MS)
  })
  await Promise.race([closing, given])
  clearTimeout(timer)
}
