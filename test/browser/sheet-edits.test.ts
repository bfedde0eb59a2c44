import type { Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { fillSheet, GRID_ACTIONS, GRID_INPUTS } from '../../bench/grid/grid-sheet.ts'
import { scrollGrid, shownRows } from '../../bench/grid/grid-use.ts'
import { axeFindings, problems, startDashboard } from './dashboard.ts'
import { heading, makeSheet, status, toast } from './steps.ts'

const dashboard = await startDashboard()
const { app } = dashboard

/** The timeout of tests that open many pages, on machines that may be slow and busy. */
const LONG = { timeout: 300_000 }

afterEach(() => {
  expect(problems.splice(0), 'scripts that threw, or that the policy refused').toEqual([])
})

describe('a sheet that changes', LONG, () => {
  const cell = (page: Page, name: string) => page.getByRole('gridcell', { name, exact: true })
  const undo = (page: Page) => page.getByRole('button', { name: 'Undo', exact: true }).first()
  const clipboard = (page: Page): Promise<string> => page.evaluate('navigator.clipboard.readText()')

  async function type(page: Page, from: string, to: string): Promise<void> {
    await cell(page, from).click()
    await page.keyboard.press('F2')
    await page.getByRole('textbox', { name: 'Edit domain' }).fill(to)
    await page.keyboard.press('Enter')
    await cell(page, to).waitFor()
  }
  /** Types a value and waits until the page has the response of the server. */
  async function write(page: Page, from: string, to: string): Promise<void> {
    const written = page.waitForResponse((answer) => answer.request().method() === 'PATCH')
    await type(page, from, to)
    await (await written).finished()
  }

  it('is edited by two people at once: each sees both, undoes their own, and leaves what the other wrote since', async () => {
    const org = await app.makeOrg()
    const sheet = await makeSheet(org, 'Both', ['a.example', 'b.example', 'c.example'])
    const one = await dashboard.open(org, sheet)
    const other = await dashboard.open(org, sheet, { email: 'other@example.com' })
    await cell(other, 'c.example').waitFor()
    await write(one, 'a.example', 'a1.example')
    await cell(other, 'a1.example').waitFor()
    await Promise.all([write(one, 'b.example', 'b1.example'), write(other, 'c.example', 'c1.example')])
    await cell(one, 'c1.example').waitFor()
    await cell(other, 'b1.example').waitFor()
    await write(other, 'b1.example', 'b2.example')
    await cell(one, 'b2.example').waitFor()
    await undo(one).click()
    await toast(one, 'Kept 1 value that changed since')
    await one.reload()
    await expect.poll(() => undo(one).isEnabled()).toBe(true)
    await undo(one).click()
    await cell(other, 'a.example').waitFor()
    await cell(other, 'b2.example').waitFor()

    await other.getByRole('button', { name: 'Add input' }).click()
    const input = other.getByRole('dialog', { name: 'Add input' })
    await input.getByLabel('Name').fill('note')
    await input.getByRole('button', { name: 'Add', exact: true }).click()
    const header = one.getByRole('columnheader', { name: 'note' })
    await header.waitFor()
    await undo(other).click()
    await header.waitFor({ state: 'detached' })
    await other.reload()
    const redo = other.getByRole('button', { name: 'Redo', exact: true })
    await expect.poll(() => redo.isEnabled()).toBe(true)
    await redo.click()
    await header.waitFor()
    await org.call('PATCH', `${sheet}/name`, { name: 'First tab' })
    await one.getByRole('tab', { name: 'First tab' }).waitFor()
    await org.call('PATCH', `${sheet.slice(0, sheet.indexOf('/sheets'))}/name`, { name: 'Of all' })
    await heading(one, 'Of all')
    await heading(other, 'Of all')
    await one.context().close()
    await other.context().close()
  })

  it('keeps what is typed while the server is away, says so, and sends it when it is back; also over a slow network', async () => {
    const org = await app.makeOrg()
    const sheet = await makeSheet(org, 'Away', ['a.example', 'b.example', 'c.example'])
    const values = async (): Promise<string[]> =>
      (await org.call('POST', `${sheet}/rows/list`)).body.data.rows.map(
        (row: { inputs: { domain: string } }) => row.inputs.domain,
      )
    const page = await dashboard.open(org, sheet)
    const connection = page.getByRole('status', { name: 'Connection' })
    await cell(page, 'a.example').waitFor()
    const comeBack = await dashboard.goAway()
    await type(page, 'a.example', 'kept.example')
    await connection.getByText('1 change will be sent').waitFor()
    expect(await values()).toEqual(['a.example', 'b.example', 'c.example'])
    await comeBack()
    await expect.poll(values).toEqual(['kept.example', 'b.example', 'c.example'])
    await expect.poll(() => connection.textContent()).toBe('')
    await org.call('POST', `${sheet}/rows`, { rows: [{ domain: 'while away' }] })
    await cell(page, 'while away').waitFor()

    const network = await page.context().newCDPSession(page)
    await network.send('Network.enable')
    const slow = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 20_000 }
    await network.send('Network.emulateNetworkConditions', slow)
    await type(page, 'b.example', 'slow.example')
    await type(page, 'c.example', 'slower.example')
    await cell(page, 'slow.example').waitFor()
    await expect.poll(values).toEqual(['kept.example', 'slow.example', 'slower.example', 'while away'])
    await page.context().close()
  })

  it('has columns that are hidden, frozen, resized and moved, rows that are filled down and copied; all of it is undone', async () => {
    const org = await app.makeOrg()
    const sheet = await makeSheet(org, 'Columns', ['a\tb', 'say "hi"', 'c'], ['domain', 'city'])
    const page = await dashboard.open(org, sheet)
    const heads = async () => {
      const all = await page.getByRole('columnheader').all()
      return Promise.all(all.map((head) => head.getAttribute('aria-label')))
    }
    const head = page.getByRole('columnheader', { name: 'domain' })
    const choose = async (column: string, item: string) => {
      await page.getByRole('button', { name: `Menu of ${column}` }).click()
      await page.getByRole('menuitem', { name: item, exact: true }).click()
    }
    await cell(page, 'c').waitFor()
    await choose('domain', 'Hide')
    await expect.poll(heads).toEqual(['Row', 'city'])
    await undo(page).click()
    await expect.poll(heads).toEqual(['Row', 'domain', 'city'])
    await choose('city', 'Move left')
    await expect.poll(heads).toEqual(['Row', 'city', 'domain'])
    await undo(page).click()
    await choose('city', 'Freeze')
    await expect.poll(heads).toEqual(['Row', 'city', 'domain'])
    await undo(page).click()
    await expect.poll(heads).toEqual(['Row', 'domain', 'city'])

    const width = async () => Math.round((await head.boundingBox())?.width ?? 0)
    const before = await width()
    const box = await head.boundingBox()
    const [x, y] = [(box?.x ?? 0) + before - 3, (box?.y ?? 0) + 10]
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(x + 30, y)
    await page.mouse.move(x + 60, y)
    await page.mouse.up()
    await expect.poll(width).toBe(before + 60)
    await undo(page).click()
    await expect.poll(width).toBe(before)

    await page.locator('[aria-rowindex="2"] > [aria-colindex="2"]').click()
    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.press('Control+c')
    await expect.poll(() => clipboard(page)).toBe('"a\tb"\n"say ""hi"""')
    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.press('Control+d')
    await cell(page, 'c').waitFor({ state: 'detached' })
    await expect.poll(() => undo(page).isEnabled()).toBe(true)
    await page.keyboard.press('Control+z')
    await cell(page, 'c').waitFor()
    await page.context().close()
  })

  it('has 100,000 rows, which scroll, and of which the last changes on the screen as it settles', async () => {
    const org = await app.makeOrg()
    const { workflow_id: id } = (await org.call('POST', '/workflows', { name: 'Large' })).body.data
    const sheet = `/workflows/${id}/sheets/${id}`
    await org.call('POST', `${sheet}/inputs`, GRID_INPUTS)
    for (const action of GRID_ACTIONS) await org.call('POST', `${sheet}/actions/add`, action)
    await fillSheet((statement) => app.store.query(statement), org.orgId, id, 100_000)
    const page = await dashboard.open(org, sheet)
    await status(page, 'Row count', '100,000 rows')
    expect(Math.max(...(await shownRows(page)))).toBeLessThan(100)
    await scrollGrid(page, 20, 400)
    await expect.poll(async () => Math.max(...(await shownRows(page)))).toBeGreaterThan(100)
    await page
      .getByRole('gridcell', { name: /^site\d+\.example$/ })
      .first()
      .click()
    await page.keyboard.press('Control+End')
    await page.keyboard.press('Home')
    await page.locator('[role=gridcell]:focus', { hasText: 'site99999.example' }).waitFor()
    const { rows } = (await org.call('POST', `${sheet}/rows/list`, { page_no: 1000, page_size: 100 })).body
      .data
    const formula = 'format_data_using_js_expression_1'
    await org.call('PATCH', `${sheet}/actions/${formula}`, { inputs: { data_formatter: '"settled now"' } })
    await org.call('POST', `${sheet}/actions/${formula}/run`, { row_ids: [rows.at(-1).row_id] })
    await cell(page, 'Complete: settled now').waitFor()
    await page.context().close()
  })

  it('shows names, notes, errors and outputs that would be scripts as text; conditions and providers are edited, and copied as curl', async () => {
    const org = await app.makeOrg()
    const evil = '<img src=x onerror="document.title=1">'
    const sheet = await makeSheet(org, evil, ['acme.example', evil], ['domain', evil])
    const add = (body: object) => org.call('POST', `${sheet}/actions/add`, body)
    const data_formatter = `{{input.domain}} === 'acme.example' ? (() => { throw new Error('${evil}') })() : '${evil}'`
    await add({ action_id: 'format_data_using_js_expression', name: evil, inputs: { data_formatter } })
    const inputs = {
      full_name: 'Ann Lee',
      company_domain: '{{input.domain}}',
      email_providers: ['Hunter', 'Datagma'],
    }
    await add({ action_id: 'person_work_email_waterfall', name: 'Mail', inputs })
    await org.call('POST', `${sheet}/actions/format_data_using_js_expression_1/run`, {
      filters: [{ variable: '{{input.domain}}', operator: 'not empty' }],
    })
    const page = await dashboard.open(org, sheet)
    await page.getByRole('columnheader', { name: evil }).first().waitFor()
    await page.getByRole('progressbar', { name: `Progress of ${evil}` }).waitFor()
    await cell(page, `Complete: ${evil}`).waitFor()
    await page.getByRole('gridcell', { name: /^Failed: .*<img/ }).dblclick()
    const panel = page.getByRole('region', { name: `Cell ${evil}, row 1` })
    await panel.getByRole('group', { name: 'Error' }).getByText(evil).first().waitFor()
    await panel.getByRole('button', { name: 'Configure' }).click()

    const action = page.getByRole('region', { name: `Action ${evil}` })
    await action.getByLabel('Note').fill(evil)
    const group = action.getByRole('group', { name: 'Run only if' })
    await group.getByRole('button', { name: 'Add condition' }).click()
    const condition = group.getByRole('group', { name: 'Condition 1' })
    await condition.getByRole('combobox', { name: 'Operator' }).click()
    await condition.getByRole('option', { name: 'contains', exact: true }).click()
    await condition.getByLabel('Value').fill(evil)
    await action.getByRole('button', { name: 'Copy as curl' }).click()
    await expect.poll(() => clipboard(page)).toMatch(/^curl -X PATCH .*run_if/s)
    await action.getByRole('button', { name: 'Save', exact: true }).click()
    await toast(page, `Saved ${evil}`)
    await action.getByRole('button', { name: 'Close' }).click()
    await org.call('POST', `${sheet}/actions/format_data_using_js_expression_1/run`, {
      filters: [{ variable: '{{input.domain}}', operator: 'is equal to', values: ['acme.example'] }],
    })
    await cell(page, 'Skipped').dblclick()
    await page.getByRole('table', { name: 'Condition' }).getByRole('cell', { name: 'not met' }).waitFor()

    await page.goto(`${dashboard.url}${sheet}?action=person_work_email_waterfall_1`)
    const mail = page.getByRole('region', { name: 'Action Mail' })
    const providers = mail.getByRole('list', { name: 'Email providers' })
    await providers.getByRole('button', { name: 'Move Hunter down' }).click()
    await mail.getByRole('button', { name: 'Add provider' }).first().click()
    await page.getByRole('option', { name: /^Findymail/ }).click()
    await expect
      .poll(() => providers.getByRole('listitem').allTextContents())
      .toEqual([
        expect.stringMatching(/^Datagma/),
        expect.stringMatching(/^Hunter/),
        expect.stringMatching(/^Findymail/),
      ])
    await providers.getByRole('switch', { name: 'Own key for Hunter' }).click()
    await mail.getByRole('button', { name: 'Save', exact: true }).click()
    await toast(page, 'Saved Mail')
    const saved = await org.call('GET', `${sheet}/actions/person_work_email_waterfall_1`)
    expect(JSON.stringify(saved.body.data.inputs.email_providers)).toMatch(/Datagma.*Hunter.*true.*Findymail/)
    expect(await page.title()).toBe(`${evil} · Loam`)
    await page.context().close()
  })
})

describe('accessibility', LONG, () => {
  it.each(['light', 'dark'] as const)('axe finds nothing serious on any screen, %s', async (theme) => {
    const org = await app.makeOrg()
    const sheet = await makeSheet(org, 'Looks', ['acme.example', 'bolt.example'])
    const added = { action_id: 'normalize_domain', inputs: { value: '{{input.domain}}' } }
    await org.call('POST', `${sheet}/actions/add`, added)
    await org.call('POST', `${sheet}/run-all`)
    const page = await dashboard.open(org, '/workflows', { theme })
    await page.getByRole('link', { name: 'Looks' }).waitFor()
    expect(await axeFindings(page), 'workflows').toEqual([])
    await page.goto(`${dashboard.url}${sheet}`)
    await page.getByRole('gridcell', { name: 'Complete: acme.example' }).dblclick()
    await page.getByRole('tree', { name: 'Value' }).waitFor()
    expect(await axeFindings(page), 'sheet and cell').toEqual([])
    await page.goto(`${dashboard.url}${sheet}?action=normalize_domain_1`)
    await page.getByRole('region', { name: 'Action Normalize domain' }).getByLabel('Note').waitFor()
    expect(await axeFindings(page), 'action').toEqual([])
    await page.goto(`${dashboard.url}${sheet}?add`)
    await page.getByRole('option').first().waitFor()
    expect(await axeFindings(page), 'add action').toEqual([])
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Command palette' }).waitFor()
    expect(await axeFindings(page), 'command palette').toEqual([])
    await page.context().close()
    const out = await dashboard.openSignedOut('/sign-in')
    await heading(out, 'Sign in')
    expect(await axeFindings(out), 'sign in').toEqual([])
    await out.context().close()
  })
})
