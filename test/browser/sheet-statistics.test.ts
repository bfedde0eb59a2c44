import { afterEach, describe, expect, it } from 'vitest'
import { settledRows } from '../plumbing/worker.ts'
import { axeFindings, problems, startDashboard } from './dashboard.ts'
import { status } from './steps.ts'

const dashboard = await startDashboard()
const { app } = dashboard
const LONG = { timeout: 300_000 }

afterEach(() => {
  expect(problems.splice(0), 'scripts that threw, or that the policy refused').toEqual([])
})

/** Makes a sheet of companies, with an action that fails on one of them. */
async function makeCompanies() {
  const org = await app.makeOrg()
  const id: string = (await org.call('POST', '/workflows', { name: 'Companies' })).body.data.workflow_id
  const sheet = `/workflows/${id}/sheets/${id}`
  await org.call('POST', `${sheet}/inputs`, [
    { name: 'city', type: 'string' },
    { name: 'people', type: 'number' },
    { name: 'founded', type: 'date' },
  ])
  const cities = ['Oslo', 'Oslo', 'Oslo', 'Lyon', 'Lyon', '']
  await org.call('POST', `${sheet}/rows`, {
    rows: cities.map((city, n) => ({ city, people: (n + 1) * 10, founded: `20${10 + n}-03-01` })),
  })
  const data_formatter =
    '{{input.people}} > 50 ? (() => { throw new Error("too many") })() : {{input.people}} > 20 ? "large" : "small"'
  await org.call('POST', `${sheet}/actions/add`, {
    action_id: 'format_data_using_js_expression',
    name: 'Size',
    inputs: { data_formatter },
  })
  await org.call('POST', `${sheet}/run-all`)
  await settledRows(org, sheet)
  return { org, sheet }
}

describe('G6: statistics of a column', LONG, () => {
  it('the head menu opens them; each bar filters by a click, and a second click removes the filter', async () => {
    const { org, sheet } = await makeCompanies()
    const page = await dashboard.open(org, sheet)
    const openStatistics = async (column: string) => {
      await page.getByRole('button', { name: `Menu of ${column}`, exact: true }).click()
      await page.getByRole('menuitem', { name: 'Statistics' }).click()
      return page.getByRole('region', { name: `Statistics of ${column}`, exact: true })
    }
    const cities = await openStatistics('city')
    for (const text of ['Filled 5', 'Empty 1', 'Unique 2'])
      await cities.getByText(text, { exact: true }).waitFor()
    expect(await axeFindings(page), 'statistics').toEqual([])
    await cities.getByRole('button', { name: 'Oslo: 3' }).click()
    await status(page, 'Row count', '3 of 6 rows')
    await cities.getByRole('button', { name: 'Lyon: 2' }).waitFor({ state: 'detached' })
    await cities.getByRole('button', { name: 'Oslo: 3', pressed: true }).click()
    await status(page, 'Row count', /^6 rows$/)

    const people = await openStatistics('people')
    await people.getByRole('group', { name: 'Numbers' }).getByText('35', { exact: true }).first().waitFor()
    const bars = people.getByRole('group', { name: 'Numbers' }).getByRole('button')
    const last = await bars.last().getAttribute('aria-label')
    await bars.last().click()
    await status(page, 'Row count', `${last?.split(': ')[1]} of 6 rows`)
    await page.getByRole('button', { name: /^Remove filter people greater/ }).click()
    await page.getByRole('button', { name: /^Remove filter people less/ }).click()
    await status(page, 'Row count', /^6 rows$/)

    const founded = await openStatistics('founded')
    await founded.getByRole('group', { name: 'Dates' }).getByText('2015-03-01').first().waitFor()
    await page.context().close()
  })

  it('those of an action have its statuses, credits and outputs; filters over outputs are kept and removed', async () => {
    const { org, sheet } = await makeCompanies()
    const page = await dashboard.open(org, sheet)
    await page.getByRole('gridcell', { name: 'Complete: large' }).first().waitFor()
    await page.getByRole('button', { name: 'Menu of Size', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Statistics' }).click()
    const sizes = page.getByRole('region', { name: 'Statistics of Size', exact: true })
    await sizes.getByRole('button', { name: 'large: 3' }).click()
    await status(page, 'Row count', '3 of 6 rows')
    await page.getByRole('button', { name: /^Remove filter Size: .* is equal to large$/ }).waitFor()
    await page.getByRole('button', { name: 'Filters', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Filters' })
    expect(await dialog.getByRole('combobox', { name: 'Column' }).inputValue()).toMatch(/^Size: /)
    await dialog.getByRole('button', { name: 'Clear filters' }).click()
    await status(page, 'Row count', /^6 rows$/)
    await sizes.getByText('Spent 0 credits').waitFor()
    const failed = sizes
      .getByRole('group', { name: 'Statuses' })
      .getByRole('button', { name: /^(Failed|Error): 1$/ })
    await failed.click()
    await status(page, 'Row count', '1 of 6 rows')
    await page.context().close()
  })
})
