import { afterEach, describe, expect, it } from 'vitest'
import { settledRows } from '../plumbing/worker.ts'
import { axeFindings, problems, startDashboard } from './dashboard.ts'
import { heading, makeSheet, toast } from './steps.ts'

const dashboard = await startDashboard()
const { app } = dashboard
const LONG = { timeout: 300_000 }

afterEach(() => {
  expect(problems.splice(0), 'scripts that threw, or that the policy refused').toEqual([])
})

/** Makes a sheet with an action that has run in all rows. */
async function makeRows() {
  const org = await app.makeOrg()
  const sheet = await makeSheet(org, 'Rows', ['https://acme.example/', 'bolt.example', 'cobalt.example'])
  const inputs = { value: '{{input.domain}}' }
  await org.call('POST', `${sheet}/actions/add`, { action_id: 'normalize_domain', name: 'Cleaned', inputs })
  await org.call('POST', `${sheet}/run-all`)
  await settledRows(org, sheet)
  const { rows } = (await org.call('POST', `${sheet}/rows/list`)).body.data
  const ids: string[] = rows.map((row: { row_id: string }) => row.row_id)
  return { org, sheet, ids }
}

describe('G8: the page of a row', LONG, () => {
  it('Space and the row number open it; it shows inputs, cells, provenance and history, and goes on to the neighbours', async () => {
    const { org, sheet, ids } = await makeRows()
    const page = await dashboard.open(org, sheet)
    await page.getByRole('gridcell', { name: 'Complete: acme.example' }).click()
    await page.keyboard.press('Shift+Space')
    await page.getByRole('checkbox', { name: 'Select row 1' }).and(page.locator(':checked')).waitFor()
    await page.keyboard.press('Space')
    await heading(page, 'Row 1')
    expect(new URL(page.url()).pathname).toBe(`${sheet}/rows/${ids[0]}`)
    await page.goBack()
    await page.getByRole('link', { name: 'Open row 2' }).click()
    await heading(page, 'Row 2')

    const cell = page.getByRole('region', { name: 'Cleaned', exact: true })
    await cell.getByRole('treeitem', { name: 'domain bolt.example' }).waitFor()
    await cell.getByRole('group', { name: 'Provenance' }).getByText('Credits').waitFor()
    await page.getByRole('list', { name: 'History' }).getByText(/^Run/).waitFor()
    await page
      .getByRole('list', { name: 'History' })
      .getByText(/^Added/)
      .waitFor()

    await page.getByRole('button', { name: 'Next row' }).click()
    await heading(page, 'Row 3')
    expect(await page.getByRole('button', { name: 'Next row' }).isDisabled()).toBe(true)
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('ArrowLeft')
    await heading(page, 'Row 2')
    await page.getByRole('button', { name: 'Previous row' }).click()
    await heading(page, 'Row 1')
    await page.getByRole('link', { name: 'Open the link' }).waitFor()
    await page.context().close()
  })

  it('an input is saved when its field is left, listed in the history, and undone', async () => {
    const { org, sheet, ids } = await makeRows()
    const page = await dashboard.open(org, `${sheet}/rows/${ids[1]}`)
    const field = page.getByRole('textbox', { name: 'domain', exact: true })
    await field.fill('bronze.example')
    await page.keyboard.press('Tab')
    await toast(page, 'Row saved')
    await page
      .getByRole('list', { name: 'History' })
      .getByText('“bolt.example” became “bronze.example”')
      .waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(() => field.inputValue()).toBe('bolt.example')
    await page.context().close()
  })
})

describe('G9: comments', LONG, () => {
  it('are written on rows and cells, counted in the grid, listed for the sheet, and resolved', async () => {
    const { org, sheet, ids } = await makeRows()
    const page = await dashboard.open(org, `${sheet}/rows/${ids[0]}`)
    const comments = page.getByRole('region', { name: 'Comments' })
    await comments
      .getByRole('textbox', { name: 'Comment' })
      .fill('Is this the head office? @nobody@example.com')
    await comments.getByRole('button', { name: 'Send' }).click()
    await comments.getByText('Is this the head office?').waitFor()
    await toast(page, 'nobody@example.com is no member')
    await comments.getByRole('textbox', { name: 'Comment' }).fill('Wrong domain')
    await comments.getByRole('combobox', { name: 'About' }).click()
    await page.getByRole('option', { name: 'Cleaned' }).click()
    await comments.getByRole('button', { name: 'Send' }).click()
    await comments.getByText('on Cleaned').waitFor()
    expect(await axeFindings(page), 'row page').toEqual([])

    await page.getByRole('link', { name: /^Rows of / }).click()
    await page.getByTitle('2 open comments').waitFor()
    const cell = page.getByRole('gridcell', { name: 'Complete: acme.example' })
    await expect.poll(() => cell.getAttribute('aria-description')).toBe('1 open comment')
    expect(await axeFindings(page), 'grid with comments').toEqual([])

    await page.getByRole('link', { name: 'Comments' }).click()
    await heading(page, 'Comments')
    const feed = page.getByRole('list', { name: 'Comments' }).getByRole('listitem')
    await feed.filter({ hasText: 'Wrong domain' }).getByRole('button', { name: 'Resolve' }).click()
    await feed.filter({ hasText: 'Wrong domain' }).waitFor({ state: 'detached' })
    expect(await axeFindings(page), 'feed').toEqual([])
    await feed.getByRole('link', { name: 'Open row' }).click()
    await heading(page, 'Row 1')
    await comments.getByText(/^Resolved by /).waitFor()
    await comments.getByRole('button', { name: 'Reopen' }).click()
    await comments.getByText(/^Resolved by /).waitFor({ state: 'detached' })
    await page.context().close()
  })
})
