import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { USER_AGENT } from '../robots.ts'
import { groupMemory, groupOf } from './memory.ts'
import { findPrivileges, programFor } from './privileges.ts'

export type MemoryBounds = { maxProcessBytes: number; maxMemoryBytes: number }

/** A Chromium that runs, for many pages. */
export type Chromium = {
  browser: Browser
  pid: number
  isOver: () => boolean
  /** Ends it with all that it started; what it cannot be asked for is killed. */
  close: () => Promise<void>
}

const START_MS = 20_000
const CLOSE_MS = 5000
const MEMORY_CHECK_MS = 500

/** Names are resolved by proxies alone, and nothing goes around them: not loopback, not UDP. */
const FLAGS: Record<string, string | true> = {
  'host-resolver-rules': 'MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  'force-webrtc-ip-handling-policy': 'disable_non_proxied_udp',
  'webrtc-ip-handling-policy': 'disable_non_proxied_udp',
  'disable-quic': true,
  'disable-crash-reporter': true,
  'disable-gpu': true,
  'user-agent': USER_AGENT,
  'js-flags': '--max-old-space-size=256',
}

/** What belongs to no page has a proxy that nobody answers at: it reaches nothing. */
const NOWHERE = { server: 'http://127.0.0.1:1', bypass: '<-loopback>' }

export async function startChromium(path: string, bounds: MemoryBounds): Promise<Chromium> {
  // It takes a while to load, and most processes never draw a page.
  const { chromium } = await import('playwright-core')
  const { account, hasSandbox } = await findPrivileges(path)
  const home = await mkdtemp(join(tmpdir(), 'loam-browser-'))
  const cleanUp = () => rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  try {
    const browser = await chromium.launch({
      executablePath: programFor(path, account, home),
      headless: true,
      chromiumSandbox: hasSandbox,
      args: Object.entries(FLAGS).map(([name, value]) =>
        value === true ? `--${name}` : `--${name}=${value}`,
      ),
      // Settings of this process, which hold secrets, are not handed on.
      env: { PATH: process.env['PATH'] ?? '', HOME: home, TMPDIR: home, LANG: 'C.UTF-8' },
      proxy: NOWHERE,
      timeout: START_MS,
      // The process ends it in its own order.
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    })
    const pid = await pidOf(browser)
    const group = await groupOf(pid)
    const watch = setInterval(() => {
      if (group !== null) void limitMemory({ pid, group }, bounds)
    }, MEMORY_CHECK_MS)
    watch.unref()
    const ended = new Promise<void>((resolve) => {
      browser.once('disconnected', () => {
        clearInterval(watch)
        resolve(cleanUp())
      })
    })
    return {
      browser,
      pid,
      isOver: () => !browser.isConnected(),
      close: async () => {
        const killing = setTimeout(() => group !== null && kill(-group), CLOSE_MS)
        await browser.close()
        await ended
        clearTimeout(killing)
      },
    }
  } catch (cause) {
    await cleanUp()
    throw cause
  }
}

async function pidOf(browser: Browser): Promise<number> {
  const session = await browser.newBrowserCDPSession()
  const { processInfo } = await session.send('SystemInfo.getProcessInfo')
  await session.detach()
  const main = processInfo.find(({ type }) => type === 'browser')
  if (main === undefined) throw new Error('it does not say which process it is')
  return main.id
}

/**
 * A page that takes too much loses its process, and no other page does. All end where they take too much together, and where
 * the main process is gone: what it started may live on, and hold the pipe by which its end is noticed.
 */
async function limitMemory(
  { pid, group }: { pid: number; group: number },
  { maxProcessBytes, maxMemoryBytes }: MemoryBounds,
): Promise<void> {
  const held = await groupMemory(group)
  if (held.length === 0) return
  const all = held.reduce((sum, { bytes }) => sum + bytes, 0)
  if (all > maxMemoryBytes || !held.some((each) => each.pid === pid)) return kill(-group)
  for (const each of held) if (each.bytes > maxProcessBytes) kill(each.pid)
}

/** A negative number is that of a group. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (cause) {
    // It may be gone, or a helper of the sandbox, which belongs to root and ends with the others.
    if (!['ESRCH', 'EPERM'].includes((cause as NodeJS.ErrnoException).code ?? '')) throw cause
  }
}
