import { reasonOf } from '../../../../lib/errors.ts'
import { createTurns } from '../../../../lib/timing/owner-turns.ts'
import { type Fetching, withSignal } from '../page-fetch.ts'
import { type Chromium, type MemoryBounds, startChromium } from './chromium.ts'
import { DrawFault, drawPage, type PageBounds } from './draw-page.ts'

/** The result of rendering a page. `later` means that the page has no fault, but there was no free slot. */
export type Drawn = { ok: true; html: string } | { ok: false; message: string; later: boolean }

/** Renders pages that need scripts. */
export type Browser = { draw(context: Fetching, url: string): Promise<Drawn> }

/** One Chromium for all organisations of a process, with a new context for each page. */
export type BrowserPool = {
  /** Returns the browser of an owner. The owner with the fewest pages in flight is served next. */
  of: (owner: string) => Browser
  close: () => Promise<void>
}

export type Bounds = MemoryBounds &
  PageBounds & { maxAtOnce: number; timeoutMs: number; idleMs: number; waitMs: number; maxPages: number }

export const BOUNDS: Bounds = {
  maxAtOnce: 3,
  timeoutMs: 25_000,
  /** The time that a page waits for its turn. */
  waitMs: 60_000,
  /** The time after which an idle Chromium ends. */
  idleMs: 60_000,
  /** The number of pages after which a new Chromium is started, as browsers use more memory with time. */
  maxPages: 500,
  /** The time that a page may go on loading and running after its document has arrived. */
  settleMs: 8000,
  maxRequests: 300,
  maxBytes: 30_000_000,
  maxProcessBytes: 800_000_000,
  maxMemoryBytes: 3_000_000_000,
}

/** A Chromium and its use. `isRetired` is set when it ends. */
type Shift = { starting: Promise<Chromium>; inFlight: number; drawn: number; isRetired: boolean }

export function createBrowserPool(path: string, some: Partial<Bounds> = {}): BrowserPool {
  const bounds = { ...BOUNDS, ...some }
  const turns = createTurns(bounds.maxAtOnce)
  const closing = new AbortController()
  const { join, leave, end, close } = createShifts(path, bounds)

  /** Renders a page once. Returns null if the Chromium ended meanwhile. */
  async function drawOnce(fetching: Fetching, url: string): Promise<Drawn | null> {
    if (fetching.signal.aborted) return fail('it took too long')
    const joined = join()
    let chromium: Chromium | null = null
    try {
      chromium = await joined.starting
      const html = await drawPage(chromium.browser, fetching, url, { bounds, onStuck: () => end(joined) })
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
    const stopped = AbortSignal.any([context.signal, closing.signal])
    const endTurn = await turns.take(owner, AbortSignal.any([stopped, AbortSignal.timeout(bounds.waitMs)]))
    if (endTurn === null) return fail('no browser slot became free in time; try again later', true)
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(bounds.timeoutMs)])
    const fetching = withSignal(context, signal)
    try {
      // A second attempt is made, because another page may have ended the Chromium.
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
      await close()
    },
  }
}

/** Starts the Chromium that pages share, and ends it when it is idle, worn out or broken. */
function createShifts(path: string, bounds: Bounds) {
  const endings = new Set<Promise<void>>()
  let shift: Shift | null = null
  let idle: NodeJS.Timeout | undefined

  const end = (ended: Shift) => {
    if (shift === ended) shift = null
    if (ended.isRetired) return
    ended.isRetired = true
    // A Chromium that did not start, or has crashed, needs no closing.
    const ending = ended.starting.then((chromium) => chromium.close()).catch(() => undefined)
    endings.add(ending)
    void ending.finally(() => endings.delete(ending))
  }

  const start = (): Shift => {
    const starting = startChromium(path, bounds)
    const started = { starting, inFlight: 0, drawn: 0, isRetired: false }
    void starting.then(
      ({ browser }) => browser.once('disconnected', () => end(started)),
      () => end(started),
    )
    return started
  }

  const join = (): Shift => {
    clearTimeout(idle)
    const joined = (shift ??= start())
    joined.inFlight += 1
    joined.drawn += 1
    if (joined.drawn >= bounds.maxPages) shift = null
    return joined
  }

  const leave = (left: Shift) => {
    left.inFlight -= 1
    if (left.inFlight > 0 || left.isRetired) return
    if (left !== shift) return end(left)
    idle = setTimeout(() => end(left), bounds.idleMs)
    idle.unref()
  }

  const close = async () => {
    clearTimeout(idle)
    if (shift !== null) end(shift)
    await Promise.all(endings)
  }

  return { join, leave, end, close }
}

const fail = (message: string, later = false): Drawn => ({
  ok: false,
  message: `the browser did not render the page: ${message}`,
  later,
})

/** Returns the first line of an error. In Playwright's errors, a log of calls follows. */
const firstLine = (cause: unknown): string => reasonOf(cause).split('\n', 1)[0] ?? ''
