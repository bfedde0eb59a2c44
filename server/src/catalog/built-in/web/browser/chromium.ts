import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { USER_AGENT } from '../robots.ts'
import { groupMemory, groupOf } from './memory.ts'
import { findPrivileges, programFor } from './privileges.ts'

export type MemoryBounds = { maxProcessBytes: number; maxMemoryBytes: number }

/** A running Chromium for many pages. */
export type Chromium = {
  browser: Browser
  pid: number
  isOver: () => boolean
  /** Ends it with all processes that it started. If it does not respond, they are killed. */
  close: () => Promise<void>
}

const START_MS = 20_000
const CLOSE_MS = 5000
const MEMORY_CHECK_MS = 500

/**
 * The flags that make the proxies the only way out: they alone resolve names, and no connection bypasses them, neither to
 * loopback nor by UDP.
 */
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

/** The proxy of requests that belong to no page. Nothing listens there, so they reach nothing. */
const NOWHERE = { server: 'http://127.0.0.1:1', bypass: '<-loopback>' }

export async function startChromium(path: string, bounds: MemoryBounds): Promise<Chromium> {
  // The library takes long to load, and most processes never render a page.
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
      // The environment of this process is not passed on, because it holds secrets.
      env: { PATH: process.env['PATH'] ?? '', HOME: home, TMPDIR: home, LANG: 'C.UTF-8' },
      proxy: NOWHERE,
      timeout: START_MS,
      // The shutdown of this process ends it at the right time.
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
  if (main === undefined) throw new Error('Chromium did not report its process id')
  return main.id
}

/**
 * Kills the process of a page that uses too much memory, and of no other page. Kills all processes if together they use
 * too much, or if the main process is gone: the processes that it started may live on and hold open the pipe by which its
 * end is noticed.
 */
async function limitMemory(
  { pid, group }: { pid: number; group: number },
  { maxProcessBytes, maxMemoryBytes }: MemoryBounds,
): Promise<void> {
  const processes = await groupMemory(group)
  if (processes.length === 0) return
  const all = processes.reduce((sum, { bytes }) => sum + bytes, 0)
  if (all > maxMemoryBytes || !processes.some((each) => each.pid === pid)) return kill(-group)
  for (const each of processes) if (each.bytes > maxProcessBytes) kill(each.pid)
}

/** Kills a process, or a group of processes if the number is negative. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (cause) {
    // The process may have ended. A helper of the sandbox belongs to root and ends with the others.
    if (!['ESRCH', 'EPERM'].includes((cause as NodeJS.ErrnoException).code ?? '')) throw cause
  }
}
