import type { Page } from 'playwright-core'
import { afterEach, expect, it } from 'vitest'
import type { TestOrg } from '../plumbing/harness.ts'
import { axeFindings, problems, startDashboard } from './dashboard.ts'
import { makeSheet, toast } from './steps.ts'

const dashboard = await startDashboard()
const { app } = dashboard

/** The timeout of tests that open many pages, on machines that may be slow and busy. */
const LONG = { timeout: 300_000 }

afterEach(() => {
  expect(problems.splice(0), 'scripts that threw, or that the policy refused').toEqual([])
})

const head = (page: Page, name: string) => page.getByRole('columnheader', { name, exact: true })
const cell = (page: Page, name: string) => page.getByRole('gridcell', { name, exact: true })
const formula = (org: TestOrg, sheet: string, name: string, data_formatter: string, more: object = {}) =>
  org.call('POST', `${sheet}/actions/add`, {
    action_id: 'format_data_using_js_expression',
    name,
    inputs: { data_formatter },
    ...more,
  })
async function choose(page: Page, column: string, item: string): Promise<void> {
  await page.getByRole('button', { name: `Menu of ${column}`, exact: true }).click()
  await page.getByRole('menuitem', { name: item, exact: true }).click()
}

it(
  'H13: an input is renamed, retyped and duplicated from its head, and Undo says what it undid',
  LONG,
  async () => {
    const org = await app.makeOrg()
    const sheet = await makeSheet(org, 'Inputs', ['1,200', '12', 'many', ''], ['Size'])
    await formula(org, sheet, 'Double', '{{input.Size}} * 2')
    const filters = JSON.stringify([
      { variable: '{{input.Size}}', operator: 'does not contain', values: ['x'] },
    ])
    const page = await dashboard.open(org, `${sheet}?filters=${encodeURIComponent(filters)}`)
    await choose(page, 'Size', 'Rename')
    const rename = page.getByRole('dialog', { name: 'Rename input' })
    await rename.getByLabel('Name').fill('Headcount')
    await rename.getByRole('button', { name: 'Save', exact: true }).click()
    await head(page, 'Headcount').waitFor()
    await toast(page, 'Renamed to Headcount. 1 action updated')
    await page.getByRole('button', { name: /^Remove filter .*Headcount/ }).waitFor()
    await cell(page, 'many').waitFor()

    await choose(page, 'Headcount', 'Change type')
    const retype = page.getByRole('dialog', { name: 'Change type' })
    await retype.getByRole('combobox', { name: 'Type' }).click()
    await page.getByRole('option', { name: 'Number' }).click()
    await retype.getByRole('button', { name: 'Save', exact: true }).click()
    await toast(page, "2 values don't look like numbers")
    const marked = () => page.locator('[role=gridcell][aria-invalid=true]').allTextContents()
    // The reader's locale is English: 1,200 is a number there.
    await expect.poll(marked).toEqual(['many'])
    expect(await cell(page, 'many').getAttribute('title')).toBe('Not a number')

    await choose(page, 'Headcount', 'Duplicate')
    await head(page, 'Headcount copy').waitFor()
    await expect.poll(() => cell(page, '1,200').count()).toBe(2)
    await page.getByRole('button', { name: 'Undo', exact: true }).first().click()
    await toast(page, 'Undone: duplicate Headcount')
    await head(page, 'Headcount copy').waitFor({ state: 'detached' })
    const notes = page.getByRole('region', { name: 'Notifications' })
    await notes.getByRole('button', { name: 'Redo' }).click()
    await head(page, 'Headcount copy').waitFor()
    await toast(page, 'Redone: duplicate Headcount')

    await choose(page, 'Headcount copy', 'Change type')
    await retype.getByRole('combobox', { name: 'Type' }).click()
    await page.getByRole('option', { name: 'Select' }).click()
    await retype.getByLabel('Choices').fill('small\n\nlarge\nsmall')
    await retype.getByRole('button', { name: 'Save', exact: true }).click()
    await retype.waitFor({ state: 'detached' })
    await page.locator('[role=row][aria-rowindex="5"] [role=gridcell]').nth(2).dblclick()
    await page.getByLabel('Edit Headcount copy').selectOption('large')
    await page.keyboard.press('Enter')
    await cell(page, 'large').waitFor()
    expect(await axeFindings(page)).toEqual([])
  },
)

it(
  'H7: the chain stands above the grid; actions are opened, inserted and moved there, and a move warns of references',
  LONG,
  async () => {
    const org = await app.makeOrg()
    const sheet = await makeSheet(org, 'Chain', ['a'], ['name'])
    await formula(org, sheet, 'First', '{{input.name}}')
    await formula(org, sheet, 'Second', '{{format_data_using_js_expression_1.formatted_data}} + nothing', {
      run_if: {
        conditions: [{ conditions: [{ variable: '{{input.name}}', operator: 'is not empty', values: [] }] }],
      },
    })
    await formula(org, sheet, 'Third', '{{input.name}}')
    const page = await dashboard.open(org, sheet)
    const chain = page.getByRole('list', { name: 'Action chain' })
    const order = () =>
      chain
        .getByRole('listitem')
        .getByRole('button', { name: /^(?!Insert)/ })
        .all()
        .then((links) => Promise.all(links.map((link) => link.getAttribute('aria-label'))))
    await expect.poll(order).toEqual(['First', 'Second', 'Third'])
    await chain.getByRole('button', { name: 'Third', exact: true }).focus()
    await page.keyboard.press('Alt+ArrowLeft')
    await expect.poll(order).toEqual(['First', 'Third', 'Second'])
    await toast(page, 'Third now runs after First')
    await chain
      .getByRole('button', { name: 'Second', exact: true })
      .dragTo(chain.getByRole('button', { name: 'First', exact: true }))
    const warning = page.getByRole('dialog', { name: 'Move Second' })
    await warning.getByText('Second uses First').waitFor()
    await warning.getByRole('button', { name: 'Move' }).click()
    await expect.poll(order).toEqual(['Second', 'First', 'Third'])
    await page.getByRole('button', { name: 'Undo', exact: true }).first().click()
    await expect.poll(order).toEqual(['First', 'Third', 'Second'])
    await toast(page, 'Undone: move Second in the chain')

    await chain.getByRole('button', { name: 'Insert after First' }).click()
    const gallery = page.getByRole('dialog', { name: 'Add action' })
    await gallery.getByRole('searchbox').fill('normalize')
    await gallery.getByRole('option').first().click()
    const panel = page.getByRole('region', { name: 'Action Normalize domain' })
    await panel.getByRole('button', { name: 'Save', exact: true }).click()
    await expect.poll(async () => (await order())[1]).toMatch(/domain/i)
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    await choose(page, 'Second', 'Duplicate')
    await expect.poll(async () => (await order()).slice(-2)).toEqual(['Second', 'Second copy'])
    expect(await axeFindings(page)).toEqual([])
    // Moving a column in the grid moves no action.
    await page.getByRole('button', { name: 'Close', exact: true }).click()
    const before = await order()
    await choose(page, 'Second', 'Move left')
    await page.getByRole('button', { name: 'Undo', exact: true }).first().click()
    await toast(page, 'Undone: move a column in the grid')
    expect(await order()).toEqual(before)
  },
)
