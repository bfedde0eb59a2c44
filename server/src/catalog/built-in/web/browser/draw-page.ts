import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserContext, Page, Request, Route } from 'playwright-core'
import type { Fetching } from '../page-fetch.ts'
import { openProxy } from './proxy.ts'

/** Thrown if a page could not be rendered, with the reason. */
export class DrawFault extends Error {}

export type PageBounds = { maxRequests: number; maxBytes: number; settleMs: number }

const MAX_HTML_LENGTH = 5_000_000
/** The time without requests after which a loaded page counts as complete. */
const QUIET_MS = 500
const CLOSE_MS = 5000
/** The resources that are not loaded: they take bytes, and nothing reads them. */
const LEFT_OUT = new Set(['image', 'media', 'font'])

/** The script that reads the document. It runs in an isolated world, which scripts of the page cannot change. */
const READ_DOCUMENT = `(() => {
  const html = document.documentElement?.outerHTML ?? ''
  return html.length > ${MAX_HTML_LENGTH} ? null : html
})()`

/**
 * Renders a page in its own context, whose only way out is its own proxy. Throws a DrawFault or the error of Chromium.
 */
export async function drawPage(
  browser: Browser,
  { egress, signal }: Pick<Fetching, 'egress' | 'signal'>,
  url: string,
  { bounds, onStuck }: { bounds: PageBounds; onStuck: () => void },
): Promise<string> {
  if (signal.aborted) throw new DrawFault('it took too long')
  const proxy = await openProxy(egress, signal, bounds)
  const over = Promise.withResolvers<never>()
  const onAbort = () => over.reject(new DrawFault('it took too long'))
  // A call in flight may get no error when the browser dies.
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
    // The page may have been closed meanwhile.
    void (isWanted ? route.continue() : route.abort()).catch(() => undefined)
  }
}

/** Waits until the page and its scripts have loaded and no request is open. */
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
  // The error page of Chromium is not the page.
  if (!/^https?:/.test(page.url())) throw new DrawFault('it led to an address that is not http or https')
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
