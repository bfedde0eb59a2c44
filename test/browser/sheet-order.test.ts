import type { Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import type { TestOrg } from '../plumbing/harness.ts'
import { problems, startDashboard } from './dashboard.ts'
import { makeSheet } from './steps.ts'

const dashboard = await startDashboard()
const { app } = dashboard

const LONG = { timeout: 300_000 }

afterEach(() => {
  expect(problems.splice(0), 'scripts that threw, or that the policy refused').toEqual([])
})

/** Returns the texts of a column, from the first row to the last. */
async function readColumn(page: Page, column: number): Promise<string[]> {
  const cells = await page.locator(`[role=gridcell][aria-colindex="${column + 1}"]`).all()
  const placed = await Promise.all(
    cells.map(async (cell) => ({
      row: Number(await cell.locator('..').getAttribute('aria-rowindex')),
      text: (await cell.textContent()) ?? '',
    })),
  )
  return placed.sort((one, other) => one.row - other.row).map(({ text }) => text)
}

async function choose(page: Page, column: string, item: string): Promise<void> {
  await page.getByRole('button', { name: `Menu of ${column}`, exact: true }).click()
  await page.getByRole('menuitem', { name: item, exact: true }).click()
  await page.getByRole('menu').waitFor({ state: 'detached' })
}

describe('G3 Sort', LONG, () => {
  it('sorts by the menu of a head, numbers as numbers and empty last; new rows come at the end until Sort again', async () => {
    const org = await app.makeOrg()
    const sheet = await makeSheet(org, 'Sorted', ['10', '', '9', 'b', 'A'])
    const page = await dashboard.open(org, sheet)
    const values = () => readColumn(page, 1)
    const head = page.getByRole('columnheader', { name: 'domain', exact: true })
    await expect.poll(values).toEqual(['10', '', '9', 'b', 'A'])
    await choose(page, 'domain', 'Sort ascending')
    await expect.poll(values).toEqual(['9', '10', 'A', 'b', ''])
    expect(await head.getAttribute('aria-sort')).toBe('ascending')
    await choose(page, 'domain', 'Sort descending')
    await expect.poll(values).toEqual(['b', 'A', '10', '9', ''])
    expect(await head.getAttribute('aria-sort')).toBe('descending')

    await org.call('POST', `${sheet}/rows`, { rows: [{ domain: 'z' }] })
    await expect.poll(values).toEqual(['b', 'A', '10', '9', '', 'z'])
    await page.reload()
    await expect.poll(values).toEqual(['z', 'b', 'A', '10', '9', ''])
    await org.call('POST', `${sheet}/rows`, { rows: [{ domain: '50' }] })
    await expect.poll(values).toEqual(['z', 'b', 'A', '10', '9', '', '50'])
    await page.getByRole('button', { name: 'Sort again' }).click()
    await expect.poll(values).toEqual(['z', 'b', 'A', '50', '10', '9', ''])
    await page.getByRole('button', { name: 'Sort again' }).waitFor({ state: 'detached' })

    await page.getByRole('checkbox', { name: 'Select row 2' }).check()
    await page.getByRole('button', { name: 'Delete rows' }).click()
    await expect.poll(values).toEqual(['z', 'A', '50', '10', '9', ''])
    await page.getByRole('button', { name: 'Undo', exact: true }).first().click()
    await expect.poll(values).toEqual(['z', 'b', 'A', '50', '10', '9', ''])

    await choose(page, 'domain', 'Clear sort')
    await expect.poll(values).toEqual(['10', '', '9', 'b', 'A', 'z', '50'])
    expect(await head.getAttribute('aria-sort')).toBe(null)
    await page.context().close()
  })

  it('a sorted row keeps its place while its value changes', async () => {
    const org = await app.makeOrg()
    const sheet = await makeSheet(org, 'Stable', ['1', '2', '3'])
    const page = await dashboard.open(
      org,
      `${sheet}?sort=[{"variable":"{{input.domain}}","direction":"desc"}]`,
    )
    const values = () => readColumn(page, 1)
    await expect.poll(values).toEqual(['3', '2', '1'])
    await page.getByRole('gridcell', { name: '3', exact: true }).click()
    await page.keyboard.press('F2')
    await page.getByRole('textbox', { name: 'Edit domain' }).fill('0')
    await page.keyboard.press('Enter')
    await expect.poll(values).toEqual(['0', '2', '1'])
    await page.context().close()
  })
})

describe('G4 Views', LONG, () => {
  const tab = (page: Page, name: string) =>
    page.getByRole('tablist', { name: 'Views' }).getByRole('tab', { name, exact: true })
  const head = (page: Page, name: string) => page.getByRole('columnheader', { name, exact: true })

  it('keep filters, order and columns under a name in the address; changes are marked, saved and reverted, and colleagues see what was saved', async () => {
    const org = await app.makeOrg()
    const sheet = await makeSheet(org, 'Views', ['b', 'a', 'c'], ['domain', 'city'])
    const page = await dashboard.open(org, sheet)
    const values = () => readColumn(page, 1)
    await tab(page, 'All rows').waitFor()
    await choose(page, 'domain', 'Sort descending')
    await tab(page, 'All rows (not saved)').waitFor()
    await choose(page, 'city', 'Hide')
    await page.getByRole('button', { name: 'New view' }).click()
    const dialog = page.getByRole('dialog', { name: 'New view' })
    await dialog.getByLabel('Name').fill('By domain')
    await dialog.getByRole('radio', { name: 'Shared' }).check()
    await dialog.getByRole('button', { name: 'Create' }).click()
    await tab(page, 'By domain').waitFor()
    await expect.poll(() => new URL(page.url()).searchParams.get('view')).toMatch(/^[0-9a-f-]{36}$/)
    expect(new URL(page.url()).searchParams.get('sort')).toBe(null)
    await expect.poll(values).toEqual(['c', 'b', 'a'])
    await head(page, 'city').waitFor({ state: 'detached' })

    const other = await dashboard.open(org, new URL(page.url()).pathname + new URL(page.url()).search, {
      email: 'colleague@example.com',
    })
    await expect.poll(() => readColumn(other, 1)).toEqual(['c', 'b', 'a'])
    await head(other, 'city').waitFor({ state: 'detached' })

    await choose(page, 'domain', 'Sort ascending')
    await tab(page, 'By domain (not saved)').waitFor()
    await expect.poll(values).toEqual(['a', 'b', 'c'])
    await page.getByRole('button', { name: 'Revert' }).click()
    await tab(page, 'By domain').waitFor()
    await expect.poll(values).toEqual(['c', 'b', 'a'])
    await choose(page, 'domain', 'Clear sort')
    await expect.poll(values).toEqual(['b', 'a', 'c'])
    await page.getByRole('button', { name: 'Columns', exact: true }).click()
    await page.getByRole('menuitemcheckbox', { name: 'city' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Save view' }).click()
    await tab(page, 'By domain').waitFor()
    await page.getByRole('button', { name: 'Save view' }).waitFor({ state: 'detached' })
    await expect.poll(() => readColumn(other, 1)).toEqual(['b', 'a', 'c'])
    await head(other, 'city').waitFor()

    await tab(page, 'All rows').click()
    await head(page, 'city').waitFor()
    await tab(page, 'All rows').and(page.locator('[aria-selected=true]')).waitFor()
    await page.context().close()
    await other.context().close()
  })

  it('of one person are not shown to others; a view is renamed, becomes the default and is deleted', async () => {
    const org = await app.makeOrg()
    const sheet = await makeSheet(org, 'Own views', ['b', 'a'])
    const page = await dashboard.open(org, sheet)
    const make = async (name: string, who: string) => {
      await page.getByRole('button', { name: 'New view' }).click()
      const dialog = page.getByRole('dialog', { name: 'New view' })
      await dialog.getByLabel('Name').fill(name)
      await dialog.getByRole('radio', { name: who }).check()
      await dialog.getByRole('button', { name: 'Create' }).click()
      await dialog.waitFor({ state: 'detached' })
      await tab(page, name).waitFor()
    }
    await make('Mine', 'Only me')
    await make('Ours', 'Shared')
    const menu = async (item: string) => {
      await page.getByRole('button', { name: 'View menu' }).click()
      await page.getByRole('menuitem', { name: item, exact: true }).click()
    }
    await menu('Rename view')
    await page.getByRole('textbox', { name: 'Name' }).fill('Of all of us')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await tab(page, 'Of all of us').waitFor()
    await menu('Make default')
    const other = await dashboard.open(org, sheet, { email: 'colleague@example.com' })
    await tab(other, 'Of all of us').and(other.locator('[aria-selected=true]')).waitFor()
    expect(await tab(other, 'Mine').count()).toBe(0)
    await tab(page, 'Mine').click()
    await menu('Delete view')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await tab(page, 'Mine').waitFor({ state: 'detached' })
    await page.context().close()
    await other.context().close()
  })
})

/** Adds a formula that returns a text in capitals, and runs it. */
async function addCapitals(org: TestOrg, sheet: string): Promise<void> {
  const body = {
    action_id: 'format_data_using_js_expression',
    name: 'Capitals',
    inputs: { data_formatter: '{{input.domain}}.toUpperCase()' },
  }
  const { status, body: answer } = await org.call('POST', `${sheet}/actions/add`, body)
  expect([status, answer.error]).toEqual([201, undefined])
  await org.call('POST', `${sheet}/run-all`, {})
}

describe('G2 and G11', LONG, () => {
  it('filters by an output in the dialog; all rows that match are selected, run without ids, and deleted', async () => {
    const org = await app.makeOrg()
    const sheet = await makeSheet(org, 'Outputs', ['ax', 'bx', 'b'])
    await addCapitals(org, sheet)
    const page = await dashboard.open(org, sheet)
    await page.getByRole('gridcell', { name: 'Complete: AX' }).waitFor()
    await page.getByRole('button', { name: 'Filters', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Filters' })
    await dialog.getByRole('button', { name: 'Add filter' }).click()
    await dialog.getByRole('combobox', { name: 'Column' }).fill('Capitals:')
    await page
      .getByRole('option', { name: /^Capitals: / })
      .first()
      .click()
    await dialog.getByRole('combobox', { name: 'Operator' }).fill('contains')
    await page.getByRole('option', { name: 'contains', exact: true }).click()
    await dialog.getByLabel('Value').fill('X')
    await dialog.getByRole('button', { name: 'Apply' }).click()
    await expect.poll(() => readColumn(page, 1)).toEqual(['ax', 'bx'])
    await page.getByRole('button', { name: /^Remove filter Capitals: .* contains X$/ }).waitFor()

    await page.getByRole('checkbox', { name: 'Select row 1' }).check()
    const bar = page.getByRole('toolbar', { name: 'Selected rows' })
    await bar.getByText('1 row selected').waitFor()
    await bar.getByRole('button', { name: 'Select all 2 rows that match' }).click()
    await bar.getByText('2 rows selected').waitFor()
    await bar.getByText('Run: at most 0 credits').waitFor()
    await bar.getByRole('button', { name: 'Run selected' }).click()
    const run = page.waitForRequest((request) => request.url().endsWith('/run'))
    await page
      .getByRole('dialog', { name: 'Run rows' })
      .getByRole('button', { name: 'Run', exact: true })
      .click()
    const sent = (await run).postDataJSON()
    expect([sent.row_ids, sent.filters.length]).toEqual([undefined, 1])
    await bar.getByRole('button', { name: 'Delete rows' }).click()
    await expect.poll(() => readColumn(page, 1)).toEqual([])
    await page.getByRole('button', { name: /^Remove filter/ }).click()
    await expect.poll(() => readColumn(page, 1)).toEqual(['b'])
    await page.context().close()
  })
})
