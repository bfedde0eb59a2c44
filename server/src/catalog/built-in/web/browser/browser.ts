import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Fetching } from '../page-fetch.ts'
import { USER_AGENT } from '../robots.ts'
import { groupMemory } from './memory.ts'
import { openProxy } from './proxy.ts'

export type Drawn = { ok: true; html: string } | { ok: false; message: string }

/** Draws pages that need scripts. Each is drawn by a process of its own, which knows and keeps nothing. */
export type Browser = { draw(context: Fetching, url: string): Promise<Drawn> }

const TIMEOUT_MS = 25_000
/** How long scripts of a page may run, by the clock of the page. */
const SCRIPTS_MS = 8000
const MAX_HTML_BYTES = 5_000_000
const MEMORY_CHECK_MS = 250
const MAX_AT_ONCE = 2

type Bounds = { maxMemoryBytes: number }
const BOUNDS: Bounds = { maxMemoryBytes: 1_500_000_000 }

export function createBrowser(path: string, bounds = BOUNDS): Browser {
  let drawing = 0
  const waiting: (() => void)[] = []
  return {
    async draw(context, url) {
      if (drawing >= MAX_AT_ONCE) await new Promise<void>((resolve) => void waiting.push(resolve))
      else drawing += 1
      try {
        return await drawAlone({ path, ...bounds }, context, url)
      } finally {
        const next = waiting.shift()
        if (next === undefined) drawing -= 1
        else next()
      }
    },
  }
}

type Program = Bounds & { path: string }

async function drawAlone(program: Program, context: Fetching, url: string): Promise<Drawn> {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return fail('it is not an http or https address')
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(TIMEOUT_MS)])
  if (signal.aborted) return fail('there was no time left for it')
  const profile = await mkdtemp(join(tmpdir(), 'loam-browser-'))
  const proxy = await openProxy(context.egress, signal)
  try {
    return await dump(program, flagsOf(profile, proxy.port, url), profile, signal)
  } finally {
    await proxy.close()
    await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
}

const fail = (message: string): Drawn => ({
  ok: false,
  message: `the browser did not draw the page: ${message}`,
})

/** Names are resolved by the proxy alone, and nothing goes around it, not even to loopback. */
function flagsOf(profile: string, proxyPort: number, url: string): string[] {
  const flags: Record<string, string | true> = {
    headless: true,
    'dump-dom': true,
    'user-data-dir': profile,
    'proxy-server': `http://127.0.0.1:${proxyPort}`,
    'proxy-bypass-list': '<-loopback>',
    'host-resolver-rules': 'MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
    'force-webrtc-ip-handling-policy': 'disable_non_proxied_udp',
    'disable-quic': true,
    'disable-background-networking': true,
    'disable-component-update': true,
    'disable-sync': true,
    'disable-extensions': true,
    'disable-default-apps': true,
    'disable-breakpad': true,
    'disable-crash-reporter': true,
    'disable-dev-shm-usage': true,
    'disable-gpu': true,
    'no-first-run': true,
    'mute-audio': true,
    'user-agent': USER_AGENT,
    'virtual-time-budget': String(SCRIPTS_MS),
    timeout: String(TIMEOUT_MS - 5000),
    'js-flags': '--max-old-space-size=256',
    // Chromium does not start its sandbox for root.
    ...(process.getuid?.() === 0 && { 'no-sandbox': true }),
  }
  const printed = Object.entries(flags).map(([name, value]) =>
    value === true ? `--${name}` : `--${name}=${value}`,
  )
  return [...printed, new URL(url).href]
}

function dump(program: Program, flags: string[], profile: string, signal: AbortSignal): Promise<Drawn> {
  return new Promise((resolve) => {
    // Settings of this process, which hold secrets, are not handed on.
    const env = { PATH: process.env['PATH'] ?? '', HOME: profile, TMPDIR: profile, LANG: 'C.UTF-8' }
    const child = spawn(program.path, flags, {
      env,
      cwd: profile,
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const chunks: Buffer[] = []
    let size = 0
    let stoppedBy: string | null = null
    const killAll = () => {
      if (child.pid === undefined) return
      try {
        process.kill(-child.pid, 'SIGKILL')
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== 'ESRCH') throw cause
      }
    }
    const stop = (why: string) => {
      stoppedBy ??= why
      killAll()
    }
    const onAbort = () => stop('it took too long')
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    let isOver = false
    const checkMemory = async () => {
      const held = await groupMemory(child.pid ?? 0)
      if (held > program.maxMemoryBytes && !isOver) stop('it takes too much memory')
    }
    const watch = setInterval(() => void checkMemory(), MEMORY_CHECK_MS)
    const settle = (drawn: Drawn) => {
      isOver = true
      clearInterval(watch)
      signal.removeEventListener('abort', onAbort)
      // Processes that the browser started may outlive it.
      killAll()
      resolve(drawn)
    }
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > MAX_HTML_BYTES) stop('it is too large')
      else chunks.push(chunk)
    })
    child.once('error', (error) => settle(fail(`it cannot be started: ${error.message}`)))
    child.once('close', (code) => {
      if (stoppedBy !== null) return settle(fail(stoppedBy))
      const html = Buffer.concat(chunks).toString()
      settle(html.trim() === '' ? fail(`it ended with ${code} and no page`) : { ok: true, html })
    })
  })
}
