import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { DASHBOARD_FOLDER } from '#server/api/dashboard/built-files.ts'
import { addMember } from '#server/organisation/members.ts'
import { createSignInLink } from '#server/organisation/sign-in.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { findMember } from '#server/organisation/store/members.ts'
import { buildDashboard, isDashboardBuilt } from '../../scripts/dashboard-build.mjs'
import { atEnd, atEndOfTest } from '../plumbing/at-end.ts'
import { CHROMIUM } from '../plumbing/chromium.ts'
import { makeApp, type TestApp, type TestOrg } from '../plumbing/harness.ts'
import { startTestWorker } from '../plumbing/worker.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
]
/** The timeout for actions that hang. It is long enough for a busy machine. */
const PATIENCE_MS = 50_000

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export type Dashboard = {
  app: TestApp
  url: string
  /** Opens a page with a browser profile of its own, signed in to the organisation. */
  open(org: TestOrg, path: string, options?: Options): Promise<Page>
  /** Opens a page that is not signed in. */
  openSignedOut(path: string): Promise<Page>
  signInLink(org: TestOrg): Promise<string>
  /** Closes all connections and refuses new ones. The returned function brings the server back on the same port. */
  goAway(): Promise<() => Promise<void>>
}
type Options = { email?: string; role?: string; theme?: 'light' | 'dark'; width?: number }

const HOST = '127.0.0.1'

/** Returns a free port below the range of the system, so that no other process takes it while the server is away. */
async function findPort(): Promise<number> {
  const port = randomInt(10_000, 30_000)
  const probe = createServer()
  const isFree = await new Promise<boolean>((resolve) => {
    probe.once('error', () => resolve(false)).listen(port, HOST, () => resolve(true))
  })
  if (!isFree) return findPort()
  await new Promise((resolve) => probe.close(resolve))
  return port
}

/** Starts the real application over HTTP with a worker and the built dashboard, and a Chromium to open it. */
export async function startDashboard(settings: Record<string, string> = {}): Promise<Dashboard> {
  if (!isDashboardBuilt(ROOT)) {
    const failure = await buildDashboard(ROOT)
    if (failure !== null) throw new Error(`The dashboard could not be built: ${failure}`)
  }
  let url = ''
  const app = await makeApp({
    // The sources of the tests are servers on this machine.
    settings: { LOAM_EGRESS_ALLOW: '127.0.0.1', ...settings },
    services: { dashboardFolder: DASHBOARD_FOLDER, publicUrl: () => url },
  })
  const port = await findPort()
  url = await app.api.listen({ host: HOST, port })
  await startTestWorker(app)
  const browser: Browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
  atEnd(() => browser.close())

  const newPage = async (context: BrowserContext, path: string): Promise<Page> => {
    // A page that a test has left open still listens, draws and sends requests.
    atEndOfTest(() => context.close())
    context.setDefaultTimeout(PATIENCE_MS)
    const page = await context.newPage()
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) problems.push(message.text())
    })
    page.on('request', (request) => {
      if (/^(https?|wss?):/.test(request.url()) && !request.url().startsWith(`${url}/`)) {
        problems.push(`asked ${request.url()}`)
      }
    })
    await page.goto(`${url}${path}`)
    return page
  }
  /** Returns a sign-in link of a member, who is added first if necessary. */
  const makeLink = async (org: TestOrg, email: string, role: string): Promise<string> => {
    const db = app.store.system
    const member =
      (await findMember(db, org.orgId, email)) ??
      (await addMember(db, OPERATOR, org.orgId, { invite: { email, role }, memberLimit: null }))
    return (await createSignInLink(db, OPERATOR, { orgId: org.orgId, member, publicUrl: url })).url
  }
  return {
    app,
    url,
    async open(org, path, { email = org.adminEmail, role = 'admin', theme = 'light', width = 1440 } = {}) {
      const link = await makeLink(org, email, role)
      const answer = await fetch(`${url}/internal${new URL(link).pathname}`, {
        method: 'POST',
        headers: { origin: url },
      })
      const token = /^loam_session=(\w+);/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? ''
      const context = await browser.newContext({
        viewport: { width, height: 900 },
        colorScheme: theme,
        permissions: ['clipboard-read', 'clipboard-write'],
      })
      await context.addCookies([{ name: 'loam_session', value: token, url }])
      return newPage(context, path)
    },
    openSignedOut: async (path) => newPage(await browser.newContext(), path),
    signInLink: (org) => makeLink(org, org.adminEmail, 'admin'),
    async goAway() {
      const { server } = app.api
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
      return async () => {
        server.listen(port, HOST)
        await once(server, 'listening')
      }
    },
  }
}

/** The problems of all pages: scripts that threw, violations of the content security policy, requests to other hosts. */
export const problems: string[] = []

/** Returns the serious and critical violations that axe finds. */
export async function axeFindings(page: Page): Promise<string[]> {
  // Evaluated by the debugger, to which the content security policy of the page does not apply.
  await page.evaluate(axe)
  const found: { id: string; impact: string; nodes: { html: string }[] }[] = await page.evaluate(
    'axe.run().then(({ violations }) => violations)',
  )
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
}
