import { reasonOf } from '../../../../lib/errors.ts'
import { createTurns } from '../../../../lib/timing/owner-turns.ts'
import { type Fetching, withSignal } from '../page-fetch.ts'
import { type Chromium, type MemoryBounds, startChromium } from './chromium.ts'
import { DrawFault, drawPage, type PageBounds } from './draw-page.ts'

/** `later`: nothing is wrong with the page, there was no room for it. */
export type Drawn = { ok: true; html: string } | { ok: false; message: string; later: boolean }

/** Draws pages that need scripts. */
export type Browser = { draw(context: Fetching, url: string): Promise<Drawn> }

/** One Chromium for everybody in the process, with a fresh context a page. */
export type BrowserPool = {
  /** Owners share it fairly: whoever has the fewest pages under way is next. */
  of: (owner: string) => Browser
  close: () => Promise<void>
}

export type Bounds = MemoryBounds &
  PageBounds & { maxAtOnce: number; timeoutMs: number; idleMs: number; waitMs: number; maxPages: number }

export const BOUNDS: Bounds = {
  maxAtOnce: 3,
  timeoutMs: 25_000,
  /** How long a page waits for its turn. */
  waitMs: 60_000,
  /** How long a Chromium stays with no page to draw. */
  idleMs: 60_000,
  /** Another one is started after so many pages, as browsers grow with time. */
  maxPages: 500,
  /** How long a page may go on loading and running once its document has come. */
  settleMs: 8000,
  maxRequests: 300,
  maxBytes: 30_000_000,
  maxProcessBytes: 800_000_000,
  maxMemoryBytes: 3_000_000_000,
}

/** A Chromium, and who uses it. */
type Shift = { starting: Promise<Chromium>; underWay: number; drawn: number; isRetired: boolean }

export function createBrowserPool(path: string, some: Partial<Bounds> = {}): BrowserPool {
  const bounds = { ...BOUNDS, ...some }
  const turns = createTurns(bounds.maxAtOnce)
  const closing = new AbortController()
  const endings = new Set<Promise<void>>()
  let shift: Shift | null = null
  let idle: NodeJS.Timeout | undefined

  const end = (ended: Shift) => {
    if (shift === ended) shift = null
    if (ended.isRetired) return
    ended.isRetired = true
    // One that did not start, or died, has nothing to close.
    const ending = ended.starting.then((chromium) => chromium.close()).catch(() => undefined)
    endings.add(ending)
    void ending.finally(() => endings.delete(ending))
  }

  const start = (): Shift => {
    const starting = startChromium(path, bounds)
    const started = { starting, underWay: 0, drawn: 0, isRetired: false }
    void starting.then(
      ({ browser }) => browser.once('disconnected', () => end(started)),
      () => end(started),
    )
    return started
  }

  const join = (): Shift => {
    clearTimeout(idle)
    const joined = (shift ??= start())
    joined.underWay += 1
    joined.drawn += 1
    if (joined.drawn >= bounds.maxPages) shift = null
    return joined
  }

  const leave = (left: Shift) => {
    left.underWay -= 1
    if (left.underWay > 0 || left.isRetired) return
    if (left !== shift) return end(left)
    idle = setTimeout(() => end(left), bounds.idleMs)
    idle.unref()
  }

  /** A page drawn, or null where the Chromium was lost under it. */
  async function drawOnce(fetching: Fetching, url: string): Promise<Drawn | null> {
    if (fetching.signal.aborted) return fail('it took too long')
    const joined = join()
    let chromium: Chromium | null = null
    try {
      chromium = await joined.starting
      const html = await drawPage(chromium.browser, fetching, url, bounds, () => end(joined))
      return { ok: true, html }
    } catch (cause) {
      if (chromium === null) return fail(`it cannot be started: ${firstLine(cause)}`)
      if (cause instanceof DrawFault) return fail(cause.message)
      return chromium.isOver() ? null : fail(firstLine(cause))
    } finally {
      leave(joined)
    }
  }

  async function draw(owner: string, context: Fetching, url: string): Promise<Drawn> {
    if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return fail('it is not an http or https address')
    const called = AbortSignal.any([context.signal, closing.signal])
    const endTurn = await turns.take(owner, AbortSignal.any([called, AbortSignal.timeout(bounds.waitMs)]))
    if (endTurn === null) return fail('other pages were drawn for too long', true)
    const signal = AbortSignal.any([called, AbortSignal.timeout(bounds.timeoutMs)])
    const fetching = withSignal(context, signal)
    try {
      // It may have been another page that ended the Chromium.
      const drawn = (await drawOnce(fetching, url)) ?? (await drawOnce(fetching, url))
      return drawn ?? fail('its process ended: the page may take too much memory')
    } finally {
      endTurn()
    }
  }

  return {
    of: (owner) => ({ draw: (context, url) => draw(owner, context, url) }),
    async close() {
      closing.abort()
      clearTimeout(idle)
      if (shift !== null) end(shift)
      await Promise.all(endings)
    },
  }
}

const fail = (message: string, later = false): Drawn => ({
  ok: false,
  message: `the browser did not draw the page: ${message}`,
  later,
})

/** What follows in errors of Playwright is a log of calls. */
const firstLine = (cause: unknown): string => reasonOf(cause).split('\n', 1)[0] ?? ''
