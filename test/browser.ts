import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, expect } from 'vitest'
import { DASHBOARD_FOLDER } from '#server/api/dashboard/built-files.ts'
import { addMember } from '#server/org/members.ts'
import { createSignInLink } from '#server/org/sign-in.ts'
import { OPERATOR } from '#server/store/organisation/audit.ts'
import { findMember } from '#server/store/organisation/members.ts'
import { CHROMIUM } from './chromium.ts'
import { makeApp, type TestOrg } from './harness.ts'
import { startTestWorker } from './worker.ts'

/** For what hangs: a busy machine takes its time to draw. */
const PATIENCE_MS = 45_000
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
]

export type Visitor = { page: Page; context: BrowserContext; org: TestOrg; url: (path: string) => string }

/** The real application with the dashboard as it is built, a worker, and a real browser. */
export async function openBrowser() {
  let address = 'http://127.0.0.1:0'
  const folder = mkdtempSync(join(tmpdir(), 'loam-browser-'))
  const app = await makeApp({
    settings: { LOAM_DATA_DIR: folder, LOAM_EGRESS_ALLOW: '127.0.0.1' },
    services: { dashboardFolder: DASHBOARD_FOLDER, publicUrl: () => address },
  })
  await startTestWorker(app)
  address = await app.api.listen({ host: '127.0.0.1', port: 0 })
  const browser: Browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
  afterAll(async () => {
    await browser.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const problems: string[] = []
  // A page that logs an error is broken, whatever it shows. What a server refuses is logged by the browser itself.
  afterAll(() => expect(problems).toEqual([]))

  async function openContext(options: Parameters<Browser['newContext']>[0] = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
    context.setDefaultTimeout(PATIENCE_MS)
    context.on('weberror', (error) => problems.push(error.error().message))
    context.on('console', (message) => {
      const isRefusal = message.text().startsWith('Failed to load resource')
      if (message.type() === 'error' && !isRefusal) problems.push(message.text())
    })
    return context
  }

  /** A link as an administrator makes it. */
  async function linkFor(org: TestOrg, email = org.adminEmail, role = 'admin'): Promise<string> {
    const db = app.store.system
    const member =
      (await findMember(db, org.orgId, email)) ??
      (await addMember(db, OPERATOR, org.orgId, { email, role }, null))
    return (await createSignInLink(db, OPERATOR, org.orgId, member, address)).url
  }

  /** Somebody who is signed in, as people do it. */
  async function visit(
    options: {
      org?: TestOrg
      email?: string
      role?: string
      browser?: Parameters<Browser['newContext']>[0]
    } = {},
  ): Promise<Visitor> {
    const org = options.org ?? (await app.makeOrg())
    const context = await openContext(options.browser)
    const page = await context.newPage()
    await page.goto(await linkFor(org, options.email, options.role))
    await page.getByRole('button', { name: /^Sign in as / }).click()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    return { page, context, org, url: (path) => `${address}${path}` }
  }

  return { app, visit, linkFor, openContext, url: (path: string) => `${address}${path}` }
}
