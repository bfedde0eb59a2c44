// Measures the grid of the dashboard in Chromium on a sheet of 1,000,000 rows with live updates: the time to
// open it, the main thread time per frame of scrolling, the time until a finished cell is on the screen, and
// the plans of the queries behind it.
// npm run bench:grid [-- --rows 1000000 --seconds 10]
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Browser, chromium, type Page } from 'playwright-core'
import { createSignInLink } from '#server/organisation/sign-in.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import type { Member } from '#server/organisation/store/members.ts'
import { callOver } from '#test/builders/sheets.ts'
import { CHROMIUM } from '#test/plumbing/chromium.ts'
import type { Json } from '#test/plumbing/harness.ts'
import { openInstallation } from '#test/plumbing/installation.ts'
import { buildDashboard, isDashboardBuilt } from '../scripts/dashboard-build.mjs'
import { percentile, traceFrames } from './grid/grid-frames.ts'
import { explainGrid } from './grid/grid-plans.ts'
import { fillSheet, GRID_ACTIONS, GRID_INPUTS } from './grid/grid-sheet.ts'
import { scrollGrid, shownRows, whenDrawn } from './grid/grid-use.ts'
import { bar, median, note, print } from './parts/report.ts'

const { values } = parseArgs({
  options: { rows: { type: 'string', default: '1000000' }, seconds: { type: 'string', default: '10' } },
})
const total = Number(values.rows)
const FRAMES = Number(values.seconds) * 60
const OPENINGS = 5
const SETTLEMENTS = 20
/** The interval and the number of visible rows of the runs that are started while the grid scrolls. */
const LIVE_EVERY_MS = 200
const LIVE_ROWS = 20

const root = fileURLToPath(new URL('..', import.meta.url))
if (!isDashboardBuilt(root)) {
  const failure = await buildDashboard(root)
  if (failure !== null) throw new Error(failure)
}
const installation = await openInstallation()
let browser: Browser | undefined
try {
  const { orgId, admin, key } = await installation.makeOrg('Bench')
  const server = await installation.startServer()
  const call = callOver(server.url, key)
  const { workflow_id } = (await call('POST', '/workflows', { name: 'A large sheet' })).data
  const sheet = `/workflows/${workflow_id}/sheets/${workflow_id}`
  await call('POST', `${sheet}/inputs`, GRID_INPUTS)
  for (const action of GRID_ACTIONS) await call('POST', `${sheet}/actions/add`, action)
  note(`writing ${total} rows with ${GRID_ACTIONS.length} cells each`)
  await fillSheet((statement) => installation.store.query(statement), orgId, workflow_id, total)

  browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] })
  const page = await signIn(browser, server.url, orgId, admin)
  note('opening')
  const opened = await timeOpening(page, `${server.url}${sheet}`)
  note('scrolling')
  const { frames, updates } = await scrollWhileLive(browser, page, call, sheet)
  note('settling')
  const settled = await timeSettlements(page, call, sheet)
  note('explaining')
  const plans = await explainGrid(installation.store, orgId, workflow_id, total)

  print(`The grid over ${total} rows`, [
    { what: `opens, median of ${OPENINGS} (ms)`, figure: median(opened).toFixed(0) },
    {
      what: `main thread per frame, p95 of ${frames.count} (ms, by the clock)`,
      figure: frames.wallP95.toFixed(1),
    },
    { what: 'the same, computing alone (ms)', figure: frames.cpuP95.toFixed(1) },
    { what: 'the longest frame (ms, by the clock)', figure: frames.wallMax.toFixed(1) },
    { what: 'runs of rows in view meanwhile', figure: updates },
    { what: `settled to drawn, p95 of ${SETTLEMENTS} (ms)`, figure: percentile(settled, 0.95).toFixed(0) },
    { what: 'the same, median (ms)', figure: median(settled).toFixed(0) },
  ])
  print('Queries behind it', plans)
  bar('grid: opens within 1,000 ms', median(opened), 1000, 'at most')
  bar('grid: main thread per frame, p95', frames.cpuP95, 16.7, 'at most')
  bar('grid: settled to drawn, p95', percentile(settled, 0.95), 250, 'at most')
} finally {
  await browser?.close()
  await installation.close()
}

async function signIn(launched: Browser, url: string, orgId: string, admin: Member): Promise<Page> {
  const link = await createSignInLink(installation.store.system, OPERATOR, {
    orgId,
    member: admin,
    publicUrl: url,
  })
  const answer = await fetch(`${url}/internal${new URL(link.url).pathname}`, {
    method: 'POST',
    headers: { origin: url },
  })
  const token = /^loam_session=(\w+);/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? ''
  const context = await launched.newContext({ viewport: { width: 1440, height: 900 } })
  await context.addCookies([{ name: 'loam_session', value: token, url }])
  return context.newPage()
}

/**
 * Measures the time from opening the address until the rows show their values. The first opening, with cold
 * caches, is not counted.
 */
async function timeOpening(page: Page, address: string): Promise<number[]> {
  const times: number[] = []
  for (let n = 0; n <= OPENINGS; n += 1) {
    const began = performance.now()
    await page.goto(address, { waitUntil: 'commit' })
    await shownRows(page)
    if (n > 0) times.push(performance.now() - began)
    else await page.waitForLoadState('networkidle')
  }
  return times
}

async function scrollWhileLive(launched: Browser, page: Page, call: Call, sheet: string) {
  let updates = 0
  const over = new AbortController()
  const live = async () => {
    while (!over.signal.aborted) {
      const rows = await shownRows(page)
      const first = Math.max(0, (rows[0] ?? 1) - 1)
      const { data }: Json = await call('POST', `${sheet}/rows/list`, {
        page_no: Math.floor(first / LIVE_ROWS) + 1,
        page_size: LIVE_ROWS,
      })
      const row_ids = data.rows.map((row: Json) => row.row_id)
      await call('POST', `${sheet}/run`, { row_ids })
      updates += 1
      await new Promise((resolve) => setTimeout(resolve, LIVE_EVERY_MS))
    }
  }
  const running = live()
  const frames = await traceFrames(launched, page, () => scrollGrid(page, FRAMES, 96))
  over.abort()
  await running
  return { frames, updates }
}

type Call = ReturnType<typeof callOver>

/**
 * Runs a visible row again, so that its cell gets another value. Measures the time from the new value until
 * it is drawn.
 */
async function timeSettlements(page: Page, call: Call, sheet: string): Promise<number[]> {
  await page.keyboard.press('Escape')
  await page.goto(`${originOf(page)}${sheet}`)
  await shownRows(page)
  const times: number[] = []
  const action = 'format_data_using_js_expression_1'
  const { data }: Json = await call('POST', `${sheet}/rows/list`, { page_size: 5 })
  const row: string = data.rows[2].row_id
  for (let n = 0; n < SETTLEMENTS; n += 1) {
    const inputs = { data_formatter: `"settled ${n}"` }
    await call('PATCH', `${sheet}/actions/${action}`, { inputs })
    const drawn = whenDrawn(page, `Complete: settled ${n}`)
    await call('POST', `${sheet}/actions/${action}/run`, { row_ids: [row] })
    const at = await drawn
    const rows = await installation.store.query<{ completed_at: Date }>({
      text: 'select completed_at from cells where row_id = $1 and action = $2',
      values: [row, action],
    })
    times.push(at - (rows[0]?.completed_at.getTime() ?? Number.NaN))
  }
  return times
}

function originOf(page: Page): string {
  return new URL(page.url()).origin
}
