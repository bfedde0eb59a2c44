import { createServer } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { atEnd } from '../plumbing/at-end.ts'
import { settledRows } from '../plumbing/worker.ts'
import { axeFindings, problems, startDashboard } from './dashboard.ts'
import { makeSheet, status, toast } from './steps.ts'

const dashboard = await startDashboard()
const { app } = dashboard
const LONG = { timeout: 300_000 }

/** Set while the service answers 500 instead of nested JSON. */
let isBroken = false
const service = createServer((request, response) => {
  const name = (request.url ?? '').slice(1)
  response.writeHead(isBroken ? 500 : 200, { 'content-type': 'application/json' })
  const company = {
    company: name,
    tech: [{ name: 'React' }, { name: 'Fastify' }],
    about: `${name} sells anvils. `.repeat(120),
    offices: Array.from({ length: 60 }, (_, n) => ({ city: `City ${n}`, people: n * 17 })),
    empty: null,
  }
  response.end(JSON.stringify(isBroken ? { error: `no answer for ${name}` } : company))
}).listen(0, '127.0.0.1')
atEnd(() => new Promise((resolve) => service.close(resolve)))

afterEach(() => {
  isBroken = false
  expect(problems.splice(0), 'scripts that threw, or that the policy refused').toEqual([])
})

/** Makes a sheet whose first action calls the service, and whose second one is skipped in every row but the first. */
async function makeServiceSheet(names: string[]) {
  const org = await app.makeOrg()
  const sheet = await makeSheet(org, 'Cells', names)
  const address = service.address()
  const port = typeof address === 'object' ? address?.port : 0
  const call = { method: 'GET', endpoint: `http://127.0.0.1:${port}/{{input.domain}}` }
  await org.call('POST', `${sheet}/actions/add`, {
    action_id: 'http_api_call',
    name: 'Company',
    inputs: call,
  })
  const conditions = [{ conditions: [{ variable: '{{input.domain}}', operator: 'is', values: [names[0]] }] }]
  await org.call('POST', `${sheet}/actions/add`, {
    action_id: 'normalize_domain',
    inputs: { value: '{{input.domain}}' },
    run_if: { conditions },
  })
  await org.call('PATCH', sheet, { cache_enabled: false })
  await org.call('POST', `${sheet}/run-all`)
  await settledRows(org, sheet)
  return { org, sheet }
}

describe('H9: a cell shows its values', LONG, () => {
  it('values are found by path, become columns and references; arrows go on to the next row', async () => {
    const { org, sheet } = await makeServiceSheet(['acme.example', 'bolt.example'])
    const page = await dashboard.open(org, sheet)
    await page
      .getByRole('gridcell', { name: /^Complete: / })
      .first()
      .dblclick()
    const panel = (row: number) => page.getByRole('region', { name: `Cell Company, row ${row}` })
    await panel(1).getByRole('status').getByText('Found').waitFor()
    await panel(1).getByRole('heading', { name: 'Company · acme.example' }).waitFor()
    const tree = panel(1).getByRole('tree', { name: 'Value' })
    const box = await tree.boundingBox()
    expect(box?.height, 'long values scroll in their own box').toBeLessThan(450)
    const below = await panel(1).getByRole('combobox', { name: 'Column shows' }).boundingBox()
    expect(below?.y, 'nothing lies over the box').toBeGreaterThan((box?.y ?? 0) + (box?.height ?? 0))
    await panel(1).getByRole('searchbox', { name: 'Search value' }).fill('tech › 0')
    expect(await tree.getByRole('treeitem').count()).toBe(3)
    const line = tree.getByRole('treeitem', { name: /tech › 0 › name\s+React/ })
    await line.click()
    await line.getByRole('button', { name: 'Copy', exact: true }).click()
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe('React')
    await line.getByRole('button', { name: 'Add as column' }).click()
    await toast(page, 'Column Name added')
    await page.getByRole('columnheader', { name: 'Name', exact: true }).waitFor()
    expect(await axeFindings(page), 'cell panel').toEqual([])
    for (const row of [2, 3]) {
      const cell = page
        .getByRole('row')
        .nth(row - 1)
        .getByRole('gridcell', { name: 'Complete: React' })
      await cell.waitFor()
    }
    await panel(1).getByRole('heading', { name: /acme/ }).click()
    await page.keyboard.press('ArrowDown')
    await panel(2).getByRole('heading', { name: 'Company · bolt.example' }).waitFor()
    await panel(2).getByRole('button', { name: 'Previous row' }).click()
    await panel(1).waitFor()
    // The column shows the chosen output.
    await panel(1).getByRole('combobox', { name: 'Column shows' }).fill('Status')
    await page.getByRole('option', { name: 'Status code' }).click()
    await page.getByRole('gridcell', { name: 'Complete: 200' }).first().waitFor()
    await panel(1).getByRole('searchbox', { name: 'Search value' }).fill('company')
    await tree.getByRole('treeitem', { name: /company\s+acme.example/ }).click()
    await tree.getByRole('button', { name: 'Use in next action' }).first().click()
    await page.getByRole('region', { name: 'Action Name' }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('{{http_api_call_1.company}}')
    // Skipped and found are words, and results have no colour of their own.
    const found = `document.querySelector('[role=gridcell][aria-label="Complete: 200"] span')`
    expect(await page.evaluate(`getComputedStyle(${found}).backgroundColor`)).toBe('rgba(0, 0, 0, 0)')
    await page.getByRole('gridcell', { name: 'Skipped' }).first().dblclick()
    await page
      .getByRole('region', { name: /^Cell Normalize domain, row 2/ })
      .getByRole('status')
      .getByText('Skipped')
      .waitFor()
    await page.context().close()
  })
})

describe('H10, H11: running again', LONG, () => {
  it('a column asks which cells run; failures are told by cause, the former result is restored, the rest goes on', async () => {
    const { org, sheet } = await makeServiceSheet(['acme.example', 'bolt.example', 'cobalt.example'])
    const page = await dashboard.open(org, sheet)
    isBroken = true
    await page.getByRole('button', { name: 'Menu of Company' }).click()
    await page.getByRole('menuitem', { name: 'Run column' }).click()
    const ask = page.getByRole('dialog', { name: 'Run column' })
    const empty = ask.getByRole('radio', { name: 'Empty and failed only' })
    expect(await empty.isChecked()).toBe(true)
    await ask.getByText('Replaces 0 results').waitFor()
    await ask.getByText('0 rows').waitFor()
    expect(await ask.getByRole('button', { name: 'Run', exact: true }).isDisabled()).toBe(true)
    await ask.getByRole('radio', { name: 'All 3' }).click()
    await ask.getByText('Replaces 3 results').waitFor()
    await ask.getByText('Estimate: at most 0 credits').waitFor()
    await ask.getByRole('button', { name: 'Run', exact: true }).click()
    await settledRows(org, sheet)
    await page.getByRole('button', { name: '3 failed cells' }).click({ timeout: 120_000 })
    const dialog = page.getByRole('dialog', { name: 'Failures by cause' })
    const causes = dialog.getByRole('table', { name: 'Failures by cause' })
    await causes.getByRole('cell', { name: /The API returned 500/ }).waitFor()
    expect(await causes.getByRole('button', { name: 'Run again' }).count()).toBe(1)
    await causes.getByRole('button', { name: 'Show rows' }).click()
    await page.getByRole('button', { name: 'Remove filter Failed: The API returned 500' }).waitFor()
    await status(page, 'Row count', '3 of 3 rows')
    await page
      .getByRole('gridcell', { name: /^Failed: / })
      .first()
      .dblclick()
    const cell = page.getByRole('region', { name: 'Cell Company, row 1' })
    await cell
      .getByRole('group', { name: 'Error' })
      .getByText('The API returned 500', { exact: true })
      .waitFor()
    const former = cell.getByRole('group', { name: 'Former result' })
    await former.getByRole('treeitem', { name: /company\s+acme.example/ }).waitFor()
    expect(await axeFindings(page), 'failed cell').toEqual([])
    await former.getByRole('button', { name: 'Restore' }).click()
    await toast(page, 'Former result restored')
    await cell.getByRole('status').getByText('Found').waitFor()
    await cell.getByRole('button', { name: 'Close' }).click()
    await status(page, 'Row count', '2 of 3 rows')
    isBroken = false
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Failed rows' }).click()
    const failed = page.getByRole('dialog', { name: 'Run rows' })
    expect(await failed.getByRole('checkbox', { name: /from the start/ }).isChecked()).toBe(false)
    await failed.getByText('2 rows').waitFor()
    await failed.getByRole('button', { name: 'Run', exact: true }).click()
    await status(page, 'Last run', '2 of 2 rows, 0 failed, 0 credits')
    await page.context().close()
  })
})
