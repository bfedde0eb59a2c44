// Pictures of the demo and of the tutorial for README and docs, light and dark, each under 200 KB.
// npm run screenshots [-- --walk]   (those of the tutorial only)
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { startTutorialService } from '../doubles/tutorial-service.ts'
import { type RunningDashboard, runDashboard } from './running-dashboard.ts'
import { walkTutorial } from './walk.ts'

const FOLDER = fileURLToPath(new URL('../../docs/screenshots/', import.meta.url))
const MAX_BYTES = 200_000
const SIZE = { width: 1280, height: 720 }

const isWalkOnly = process.argv.includes('--walk')
mkdirSync(FOLDER, { recursive: true })
if (!isWalkOnly) await takeDemo()
await takeWalks()

async function takeDemo(): Promise<void> {
  const dashboard = await runDashboard()
  try {
    const first = await dashboard.open('/workflows', { theme: 'light', ...SIZE })
    await first.getByRole('button', { name: 'Open the demo workflow' }).click()
    await first.getByRole('gridcell', { name: 'Complete: analytical.example' }).waitFor()
    const sheet = new URL(first.url()).pathname
    await makeSpending(dashboard)
    for (const theme of ['light', 'dark'] as const) {
      const page = await dashboard.open(sheet, { theme, ...SIZE })
      await page.getByRole('status', { name: 'Last run' }).getByText('12 of 12 rows').waitFor()
      await take(page, `sheet-${theme}`)
      await page.getByRole('gridcell', { name: /^Failed: / }).dblclick()
      await page.getByRole('group', { name: 'Error' }).waitFor()
      await take(page, `cell-${theme}`)
      await page.goto(`${dashboard.url}${sheet}?action=format_data_using_js_expression_1`)
      await page.getByRole('group', { name: 'Preview' }).getByText('240').first().waitFor()
      await take(page, `action-${theme}`)
      await page.goto(`${dashboard.url}${sheet}/runs`)
      await page.getByRole('table', { name: 'Failures by cause' }).getByRole('row').nth(1).waitFor()
      await take(page, `runs-${theme}`)
      await page.goto(`${dashboard.url}/workflows`)
      await page.getByRole('link', { name: 'Demo: clean leads' }).waitFor()
      await take(page, `workflows-${theme}`)
      await page.goto(`${dashboard.url}/usage`)
      await page.getByRole('progressbar', { name: /^Spent of / }).waitFor()
      await page.getByRole('table', { name: 'Credits by day' }).waitFor()
      await take(page, `usage-${theme}`)
      await page.context().close()
    }
  } finally {
    await dashboard.stop()
  }
}

/** Takes the pictures of the tutorial while its steps are taken. */
async function takeWalks(): Promise<void> {
  const service = await startTutorialService()
  const dashboard = await runDashboard(service.settings)
  const folder = mkdtempSync(join(tmpdir(), 'loam-walk-'))
  const leads = join(folder, 'leads.csv')
  try {
    writeFileSync(leads, await (await fetch(`${service.url}/leads.csv`)).text())
    for (const theme of ['light', 'dark'] as const) {
      const page = await dashboard.open('/workflows', { theme, ...SIZE })
      const picture = (name: string) => take(page, `walk-${name}-${theme}`)
      await walkTutorial({ page, service: service.url, leads, picture })
      await page.context().close()
    }
  } finally {
    await dashboard.stop()
    service.stop()
    rmSync(folder, { recursive: true })
  }
}

/** The demo is free: usage has something to show only where an action has a price. */
async function makeSpending(dashboard: RunningDashboard): Promise<void> {
  await dashboard.loam('prices', 'set', '--action', 'merge_lists', '--credits', '2')
  await dashboard.post('/credits/budgets', {
    scope: 'organisation',
    period: 'month',
    limit: 120,
    name: 'Monthly',
  })
  const { workflow_id: id = '' } = await dashboard.post('/workflows', { name: 'Inbound leads' })
  const base = `/workflows/${id}/sheets/${id}`
  await dashboard.post(`${base}/inputs`, [{ name: 'email', type: 'email' }])
  await dashboard.post(`${base}/actions/add`, {
    action_id: 'merge_lists',
    name: 'Addresses',
    inputs: { lists: ['["{{input.email}}"]'] },
  })
  const rows = Array.from({ length: 40 }, (_, place) => ({ email: `ada+${place}@analytical.example` }))
  await dashboard.post(`${base}/rows`, { rows, run_after_add: 'all' })
  const page = await dashboard.open(`/workflows/${id}`, { theme: 'light', ...SIZE })
  await page.getByRole('status', { name: 'Last run' }).getByText('40 of 40 rows').waitFor()
  await page.context().close()
}

async function take(page: Page, name: string): Promise<void> {
  await page.evaluate('document.fonts.ready')
  const picture = await page.screenshot({ animations: 'disabled' })
  if (picture.length > MAX_BYTES) throw new Error(`${name} has ${picture.length} bytes`)
  writeFileSync(`${FOLDER}${name}.png`, picture)
  process.stdout.write(`docs/screenshots/${name}.png ${picture.length}\n`)
}
