import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Browser, chromium, type Page } from 'playwright-core'
import { buildDashboard, isDashboardBuilt } from '../../scripts/dashboard-build.mjs'
import { CHROMIUM } from '../plumbing/chromium.ts'
import { makeClusterFolder, prepareCluster } from '../plumbing/prepared-cluster.ts'
import { startServer } from '../plumbing/server-process.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export type RunningDashboard = {
  url: string
  browser: Browser
  /** The session of the administrator, as `name=value`. */
  cookie: string
  open(path: string, options: { theme: 'light' | 'dark'; width: number; height: number }): Promise<Page>
  /** Sends a request to the public API with the key of the first start. */
  post(path: string, body: unknown): Promise<{ [name: string]: string }>
  /** Runs a `loam` command on the same data. */
  loam(...args: string[]): Promise<void>
  stop(): Promise<void>
}

/** Starts the server as `npm start` does, on temporary data, with the administrator signed in. */
export async function runDashboard(settings: Record<string, string> = {}): Promise<RunningDashboard> {
  if (!isDashboardBuilt(ROOT)) {
    const failure = await buildDashboard(ROOT)
    if (failure !== null) throw new Error(`The dashboard could not be built: ${failure}`)
  }
  const folder = makeClusterFolder('dashboard')
  const env: Record<string, string> & { LOAM_DATA_DIR: string } = {
    ...settings,
    LOAM_DATA_DIR: join(folder, 'data'),
  }
  prepareCluster(env.LOAM_DATA_DIR)
  const server = await startServer(env)
  const said = server.stdout()
  const link = /https?:\S+\/sign-in\/\w+/.exec(said)?.[0]
  const key = /API key (\S+)/.exec(said)?.[1] ?? ''
  if (link === undefined) throw new Error(`the server did not start:\n${server.stderr()}`)
  const { url } = server
  const answer = await fetch(`${url}/internal${new URL(link).pathname}`, {
    method: 'POST',
    headers: { origin: new URL(link).origin },
  })
  const cookie = /^[^;]+/.exec(answer.headers.get('set-cookie') ?? '')?.[0] ?? ''
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] })
  return {
    url,
    browser,
    cookie,
    async open(path, { theme, width, height }) {
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: theme,
        reducedMotion: 'reduce',
        locale: 'en-GB',
      })
      const [name = '', value = ''] = cookie.split('=')
      await context.addCookies([{ name, value, url }])
      const page = await context.newPage()
      await page.goto(`${url}${path}`)
      return page
    },
    async post(path, body) {
      const response = await fetch(`${url}/api/v1${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`)
      return ((await response.json()) as { data: { [name: string]: string } }).data
    },
    async loam(...args) {
      await promisify(execFile)(process.execPath, [join(ROOT, 'cli', 'loam.mjs'), ...args], {
        cwd: ROOT,
        env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/', ...env },
      })
    },
    async stop() {
      await browser.close()
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
