import type { Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
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
