import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { company, recordsOf } from '#server/records/testing/records.ts'
import { serveHttp } from '../loopback-server.ts'
import { axeFindings, problems, startDashboard } from './dashboard.ts'

/** Each goes through several pages, on machines that may be slow and busy. */
const LONG = { timeout: 300_000 }

const dashboard = await startDashboard()
const { app } = dashboard
const org = await app.makeOrg()
const page = await dashboard.open(org, '/workflows')
const url = (path: string) => `${dashboard.url}${path}`

afterEach(() => {
  expect(problems.splice(0), 'scripts that threw, or that the policy refused').toEqual([])
})

const h1 = (name: string, on: Page = page) =>
  on.getByRole('main').getByRole('heading', { level: 1, name, exact: true })

/** Nothing serious or critical on what is shown, in both themes. */
async function checkAccessibility(): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    expect(await axeFindings(page), `${page.url()} in ${colorScheme}`).toEqual([])
  }
}

async function choose(field: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: field, exact: true }).click()
  await page.getByRole('option', { name: option }).click()
}

/** Address, the one heading, and something that is there when the screen is. */
const SCREENS: [string, string, (on: Page) => Promise<unknown>][] = [
  ['/workflows', 'Workflows', (on) => on.getByRole('button', { name: 'New workflow' }).waitFor()],
  ['/sources', 'Sources', (on) => on.getByRole('button', { name: 'New source' }).waitFor()],
  ['/shortcuts', 'Shortcuts', (on) => on.getByRole('button', { name: 'Publish shortcut' }).waitFor()],
  ['/records', 'Records', (on) => on.getByRole('tab', { name: 'Companies' }).waitFor()],
  ['/segments', 'Segments', (on) => on.getByText('No segments yet').waitFor()],
  ['/usage', 'Usage', (on) => on.getByRole('table', { name: 'Credits by day' }).waitFor()],
  [
    '/settings',
    'Settings',
    (on) =>
      on
        .getByRole('main')
        .getByRole('link', { name: /^Members/ })
        .waitFor(),
  ],
  ['/settings/members', 'Members', (on) => on.getByRole('table', { name: 'Members' }).waitFor()],
  ['/settings/keys', 'API keys', (on) => on.getByRole('table', { name: 'API keys' }).waitFor()],
  [
    '/settings/connections',
    'Connections',
    (on) => on.getByRole('button', { name: 'New connection' }).waitFor(),
  ],
  [
    '/settings/environment',
    'Environment',
    (on) => on.getByRole('button', { name: 'New variable' }).waitFor(),
  ],
  ['/settings/sessions', 'Sessions', (on) => on.getByRole('table', { name: 'Sessions' }).waitFor()],
  ['/settings/audit', 'Audit log', (on) => on.getByRole('table', { name: 'Audit log' }).waitFor()],
  ['/settings/health', 'Health', (on) => on.getByRole('table', { name: 'Limits' }).waitFor()],
  ['/settings/nowhere', 'Not found', async () => {}],
]

describe('each screen has its heading, its title, and nothing that axe finds serious', LONG, () => {
  it.each(SCREENS)('%s', async (path, heading, isThere) => {
    await page.goto(url(path))
    await h1(heading).waitFor()
    await isThere(page)
    expect(await page.title()).toBe(`${heading} · Loam`)
    expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
    await checkAccessibility()
  })
})

describe('settings', LONG, () => {
  it('a key is made, shown once, and revoked', async () => {
    await page.goto(url('/settings/keys'))
    await page.getByRole('button', { name: 'New key' }).click()
    await choose('Preset', 'Read only')
    await page.getByRole('button', { name: 'Create key' }).click()
    const shown = page.getByRole('dialog', { name: 'Key created' })
    const key = await shown.getByRole('textbox', { name: 'Key' }).inputValue()
    const answer = await app.call(key, 'GET', '/workflows')
    expect(answer.status).toBe(200)
    await shown.getByRole('button', { name: 'Done' }).click()
    const last4 = key.slice(-4)
    await page.getByRole('button', { name: `Revoke key ...${last4}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    expect((await app.call(key, 'GET', '/workflows')).status).toBe(401)
  })

  it('a variable is set, replaced and deleted; its value is never shown', async () => {
    await page.goto(url('/settings/environment'))
    await page.getByRole('button', { name: 'New variable' }).click()
    await page.getByRole('textbox', { name: 'Key' }).fill('TOKEN_A')
    await page.getByLabel('Value').fill('canary-of-a-value')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Replace TOKEN_A' }).waitFor()
    expect(await page.content()).not.toContain('canary-of-a-value')
    await page.getByRole('button', { name: 'Delete TOKEN_A' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('button', { name: 'Delete TOKEN_A' }).waitFor({ state: 'hidden' })
  })

  it('a person is invited, joins by the page, and is removed with the impact shown', async () => {
    await page.goto(url('/settings/members'))
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByRole('textbox', { name: 'Email' }).fill('new@example.com')
    await page.getByRole('button', { name: 'Send invitation' }).click()
    await page.getByRole('button', { name: 'Copy link for new@example.com' }).waitFor()
    const answer = await page.request.get(url('/internal/members'))
    const { link } = (await answer.json()).data.invitations[0]
    const joining = await dashboard.openSignedOut(new URL(link).pathname)
    await joining.getByRole('heading', { level: 1, name: /^Join / }).waitFor()
    await joining.getByRole('button', { name: 'Accept the invitation' }).click()
    await joining.getByRole('navigation', { name: 'Main' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Remove new@example.com' }).click()
    const dialog = page.getByRole('dialog', { name: 'Remove new@example.com' })
    await dialog.getByRole('list', { name: 'Impact' }).waitFor()
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click()
    await dialog.waitFor({ state: 'hidden' })
    await joining.goto(url('/workflows'))
    await h1('Sign in', joining).waitFor()
    await joining.context().close()
  })
})

describe('budgets', LONG, () => {
  it('a budget is made, refused where it is wrong, changed and deleted; alerts of a program are signed', async () => {
    await page.goto(url('/usage'))
    await page.getByRole('button', { name: 'New budget' }).click()
    const dialog = page.getByRole('dialog', { name: 'New budget' })
    await dialog.getByRole('button', { name: 'Create' }).click()
    const limit = dialog.getByRole('spinbutton', { name: 'Limit' })
    await expect.poll(() => limit.getAttribute('aria-invalid')).toBe('true')
    await limit.fill('250')
    await choose('Budget for', 'A member')
    await choose('Member', org.adminEmail)
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Monthly')
    await dialog.getByRole('textbox', { name: 'Tell a program' }).fill('https://alerts.example/budget')
    await checkAccessibility()
    await dialog.getByRole('button', { name: 'Create' }).click()
    const made = page.getByRole('dialog', { name: 'Budget created' })
    expect(await made.getByRole('textbox', { name: 'Signing secret' }).inputValue()).toMatch(/^whsec_/)
    await made.getByRole('button', { name: 'Done' }).click()
    const table = page.getByRole('table', { name: 'Budgets' })
    await table.getByRole('progressbar', { name: 'Spent of Monthly' }).waitFor()
    await page.getByRole('button', { name: 'Edit Monthly' }).click()
    const edit = page.getByRole('dialog', { name: 'Edit Monthly' })
    await edit.getByRole('spinbutton', { name: 'Limit' }).fill('300.5')
    await edit.getByRole('textbox', { name: 'Alerts at' }).fill('90%, 100')
    await edit.getByRole('button', { name: 'Save' }).click()
    await table.getByText('0 of 300.5').waitFor()
    const { body } = await org.call('GET', '/credits/budgets')
    expect(body.data).toEqual([
      expect.objectContaining({
        scope: 'member',
        subject: org.adminEmail,
        thresholds: [90, 100],
        limit: 300.5,
      }),
    ])
    await checkAccessibility()
    await page.getByRole('button', { name: 'Delete Monthly' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('No budgets: ').waitFor()
  })
})

describe('sources', LONG, () => {
  it('a source is made from the fields of its type, synced into a workflow, paused and resumed', async () => {
    const made = await org.call('POST', '/workflows', { name: 'Visitors' })
    const id: string = made.body.data.workflow_id
    await org.call('POST', `/workflows/${id}/sheets/${id}/inputs`, [{ name: 'site', type: 'string' }])
    await page.goto(url('/sources'))
    await page.getByRole('button', { name: 'New source' }).click()
    const dialog = page.getByRole('dialog', { name: 'New source' })
    await choose('Type', 'Track companies that visit a website')
    const field = dialog.getByRole('textbox', { name: 'active_domain' })
    await field.fill('https://acme.com/')
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Acme visitors')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText('must be a host name').waitFor()
    expect(await field.getAttribute('aria-invalid')).toBe('true')

    await field.fill('acme.com')
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await dialog.getByRole('status').filter({ hasText: 'No records' }).waitFor()
    await dialog.getByRole('button', { name: 'Create' }).click()
    await h1('Acme visitors').waitFor()
    await page.getByRole('textbox', { name: 'Script for the pages' }).waitFor()
    await checkAccessibility()

    await page.getByRole('button', { name: 'Sync to a workflow' }).click()
    await choose('Workflow', 'Visitors')
    await choose('Field for site', 'domain')
    await page.getByRole('button', { name: 'Sync', exact: true }).click()
    await page.getByRole('table', { name: 'Syncs' }).getByRole('link', { name: 'Visitors' }).waitFor()

    await page.goto(url('/sources'))
    await page.getByRole('button', { name: 'Pause Acme visitors' }).click()
    await page.getByRole('button', { name: 'Resume Acme visitors' }).click()
    await page.getByRole('button', { name: 'Pause Acme visitors' }).waitFor()
  })

  it('the first records are shown before a source is made, and all of them by pages after', async () => {
    const items = Array.from({ length: 25 }, (_, place) => ({
      id: place + 1,
      company: `Company ${place + 1}`,
    }))
    const { origin } = await serveHttp((_request, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(items))
    })
    await page.goto(url('/sources'))
    await page.getByRole('button', { name: 'New source' }).click()
    const dialog = page.getByRole('dialog', { name: 'New source' })
    await choose('Type', 'Import from an API')
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Companies')
    await dialog.getByRole('textbox', { name: 'url' }).fill(`${origin}/items`)
    await dialog.getByRole('textbox', { name: 'key_path' }).fill('id')
    const query = dialog.getByRole('textbox', { name: 'query' })
    await query.fill('no pair')
    const pages = dialog.getByRole('textbox', { name: 'pagination' })
    await pages.fill('no JSON')
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await dialog.getByText('must be a name, a colon and a value').waitFor()
    await query.fill('since: 2026')
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await dialog.getByText('must be JSON').waitFor()
    await pages.fill('')
    await dialog.getByRole('combobox', { name: 'connection_id' }).waitFor()
    await dialog.getByRole('button', { name: 'Copy as curl' }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain('"query":{"since":"2026"}')
    await dialog.getByRole('button', { name: 'Preview' }).click()
    const preview = dialog.getByRole('table', { name: 'Preview' })
    await preview.getByRole('cell', { name: 'Company 1', exact: true }).waitFor()
    expect(await preview.getByRole('row').count()).toBe(11)
    await dialog.getByRole('button', { name: 'Create' }).click()
    await h1('Companies').waitFor()
    const records = page.getByRole('table', { name: 'Records' })
    await page.getByText('25 records', { exact: true }).waitFor()
    await records.getByRole('cell', { name: 'Company 20', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Next', exact: true }).click()
    await records.getByRole('cell', { name: 'Company 25', exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Next', exact: true }).isDisabled()).toBe(true)
  })
})

describe('segments', LONG, () => {
  it('a segment is built from conditions, counted before it is saved, synced into a workflow, changed and deleted', async () => {
    const companies = [80, 20, 300].map((staff, place) => company(`firm${place}.example`, { staff }))
    await recordsOf(app).ingest(org.orgId, 'test', ...companies)
    const id: string = (await org.call('POST', '/workflows', { name: 'Large firms' })).body.data.workflow_id
    await org.call('POST', `/workflows/${id}/sheets/${id}/inputs`, [{ name: 'domain', type: 'string' }])
    await page.goto(url('/segments'))
    await page.getByRole('button', { name: 'New segment' }).click()
    const dialog = page.getByRole('dialog', { name: 'New segment' })
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Large')
    await dialog.getByRole('button', { name: 'Add condition' }).click()
    const condition = dialog.getByRole('group', { name: 'Condition 1' })
    await choose('Variable', 'staff')
    await choose('Operator', 'greater than or equal to')
    await condition.getByRole('textbox', { name: 'Value' }).fill('80')
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await dialog.getByRole('status').getByText('2 of 3 now').waitFor()
    await checkAccessibility()
    await dialog.getByRole('button', { name: 'Create' }).click()
    const table = page.getByRole('table', { name: 'Segments' })
    await table.getByRole('cell', { name: '2', exact: true }).waitFor()

    await page.getByRole('button', { name: 'Sync Large' }).click()
    await choose('Workflow', 'Large firms')
    await expect
      .poll(() => page.getByRole('combobox', { name: 'Field for domain' }).inputValue())
      .toBe('domain')
    await page.getByRole('button', { name: 'Sync', exact: true }).click()
    await page.getByRole('region', { name: 'Sync of Large' }).waitFor()
    await checkAccessibility()

    await page.getByRole('button', { name: 'Edit Large' }).click()
    const edit = page.getByRole('dialog', { name: 'Edit Large' })
    await edit.getByRole('textbox', { name: 'Value' }).fill('250')
    await edit.getByRole('button', { name: 'Save' }).click()
    await table.getByRole('cell', { name: '1', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Delete sync of Large' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('region', { name: 'Sync of Large' }).waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Delete Large', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('No segments yet').waitFor()
  })
})

describe('screens of a sheet', LONG, () => {
  /** A sheet with a formula that fails on one of its two rows; answers its address. */
  async function makeSheet(name: string): Promise<string> {
    const id: string = (await org.call('POST', '/workflows', { name })).body.data.workflow_id
    const sheet = `/workflows/${id}/sheets/${id}`
    await org.call('POST', `${sheet}/inputs`, [{ name: 'name', type: 'string' }])
    const data_formatter = '{{input.name}} === "good" ? 1 : (() => { throw new Error("no good") })()'
    await org.call('POST', `${sheet}/actions/add`, {
      action_id: 'format_data_using_js_expression',
      display_name: 'Check',
      inputs: { data_formatter },
    })
    await org.call('POST', `${sheet}/rows`, { rows: [{ name: 'good' }, { name: 'bad' }] })
    return sheet
  }

  it('runs are listed; failures are grouped by cause, shown by one click and run again by another', async () => {
    const sheet = await makeSheet('Causes')
    await org.call('POST', `${sheet}/run-all`)
    await page.goto(url(`${sheet}/runs`))
    const runs = page.getByRole('table', { name: 'Runs', exact: true })
    await runs.getByRole('cell', { name: '2 of 2' }).waitFor()
    const causes = page.getByRole('table', { name: 'Failures by cause' })
    await causes.getByRole('cell', { name: /no good/ }).waitFor()
    await checkAccessibility()
    await causes.getByRole('button', { name: 'Run again' }).click()
    await runs.getByRole('cell', { name: '1 of 1' }).waitFor()
    await causes.getByRole('button', { name: /^Show rows where/ }).click()
    await page.getByRole('status', { name: 'Row count' }).getByText('1 of 2 rows').waitFor()
  })

  it('a file is imported: its columns are mapped, inputs that are missing are made', async () => {
    const sheet = await makeSheet('Imported')
    const path = join(tmpdir(), `loam-import-${process.pid}.csv`)
    writeFileSync(
      path,
      `Name,Site\n${Array.from({ length: 100 }, (_, place) => `n${place},${place === 41 ? 'no site' : 'https://a.example'}`).join('\n')}`,
    )
    await page.goto(url(`${sheet}/import`))
    await page.getByLabel('File').setInputFiles(path)
    const preview = page.getByRole('table', { name: 'Preview' })
    await preview.waitFor()
    expect(await page.getByRole('combobox', { name: 'Input for Name' }).inputValue()).toBe('name')
    expect(await page.getByRole('combobox', { name: 'Input for Site' }).inputValue()).toBe('New input')
    await checkAccessibility()
    await page.getByRole('button', { name: 'Start import' }).click()
    await page.getByRole('status').filter({ hasText: '100 rows imported' }).waitFor()
    const reject = page.getByRole('table', { name: 'Rejects' }).getByRole('row').nth(1)
    await reject.waitFor()
    expect(await reject.getByRole('cell').allTextContents()).toEqual(['42', 'Site', 'url', 'no site'])
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download rejects' }).click(),
    ])
    expect(readFileSync(await file.path(), 'utf8')).toContain('"42","Site","url","no site"')
    const { body } = await org.call('GET', `${sheet}/inputs`)
    expect(body.data.map(({ name, type }: { name: string; type: string }) => [name, type])).toEqual([
      ['name', 'string'],
      ['Site', 'url'],
    ])
  })

  it('an export is built, its link counts down, and the file is what is asked for', async () => {
    const sheet = await makeSheet('Exported')
    await page.goto(url(`${sheet}/export`))
    await page.getByRole('textbox', { name: 'File name' }).fill('names')
    await page.getByRole('button', { name: 'Start export' }).click()
    const link = page.getByRole('link', { name: 'Download' })
    await link.waitFor()
    await page.getByText(/^Link valid for 1[45]:\d\d$/).waitFor()
    await checkAccessibility()
    const file = await page.request.get((await link.getAttribute('href')) ?? '')
    expect((await file.text()).split(/\r?\n/).filter(Boolean)).toHaveLength(3)
  })

  it('a schedule is saved, says when it runs next, and is removed', async () => {
    const sheet = await makeSheet('Scheduled')
    await page.goto(url(`${sheet}/schedule`))
    await page.getByRole('textbox', { name: 'Cron' }).fill('nonsense')
    await page.getByRole('button', { name: 'Save schedule' }).click()
    await expect
      .poll(() => page.getByRole('textbox', { name: 'Cron' }).getAttribute('aria-invalid'))
      .toBe('true')
    await page.getByRole('textbox', { name: 'Cron' }).fill('0 9 * * 1')
    await page.getByRole('button', { name: 'Save schedule' }).click()
    await page.getByRole('status', { name: 'Next run' }).getByText('UTC').waitFor()
    await checkAccessibility()
    await page.getByRole('button', { name: 'Remove schedule' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByRole('status', { name: 'Next run' }).getByText('Not scheduled').waitFor()
  })

  it('a webhook is enabled, takes a delivery, and is disabled', async () => {
    const sheet = await makeSheet('Hooked')
    await page.goto(url(`${sheet}/webhook`))
    await page.getByRole('button', { name: 'Enable webhook' }).click()
    const address = await page.getByRole('textbox', { name: 'Address' }).inputValue()
    const sent = await page.request.post(address, { data: { name: 'good' } })
    expect(sent.ok()).toBe(true)
    await page.getByRole('table', { name: 'Deliveries' }).waitFor()
    await checkAccessibility()
    await page.getByRole('button', { name: 'Disable webhook' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Disable', exact: true }).click()
    await page.getByRole('button', { name: 'Enable webhook' }).waitFor()
    expect((await page.request.post(address, { data: { name: 'good' } })).ok()).toBe(false)
  })

  it('a workflow is published as a shortcut, run by its form and in a batch, and archived', async () => {
    const sheet = await makeSheet('Checker')
    const id = sheet.split('/')[2] ?? ''
    await page.goto(url(`/shortcuts?publish=${id}`))
    await page
      .getByRole('dialog', { name: 'Publish shortcut' })
      .getByRole('button', { name: 'Publish' })
      .click()
    await h1('Checker').waitFor()
    const form = page.getByRole('form', { name: 'Run Checker' })
    await form.getByRole('textbox', { name: 'name' }).fill('good')
    await form.getByRole('button', { name: 'Run' }).click()
    await page.getByRole('table', { name: 'Result' }).getByRole('cell', { name: 'completed' }).waitFor()
    await checkAccessibility()
    await page.getByRole('tab', { name: 'Batch' }).click()
    await page.getByRole('textbox', { name: 'Rows' }).fill('good\nbad')
    await page.getByRole('button', { name: 'Run batch' }).click()
    await page.getByText('3 runs', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Edit schema' }).click()
    const schema = page.getByRole('dialog', { name: 'Edit schema' })
    const input = schema.getByRole('group', { name: 'Input name' })
    await input.getByRole('textbox', { name: 'Name' }).fill('Grade')
    await input.getByRole('checkbox', { name: 'Required' }).check()
    await checkAccessibility()
    await schema.getByRole('button', { name: 'Save and publish' }).click()
    await page.getByRole('tab', { name: 'Versions' }).click()
    const changes = page.getByRole('list', { name: 'Changes of version 2' })
    await changes.getByText('Changed input name: name from "name" to "Grade"').waitFor()
    await page.getByRole('tab', { name: 'Form' }).click()
    await form.getByRole('textbox', { name: 'Grade' }).waitFor()
    await page.getByRole('button', { name: 'Archive' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Archive', exact: true }).click()
    await page.getByRole('status').filter({ hasText: 'archived' }).waitFor()
  })
})

describe('by keyboard', LONG, () => {
  const hasFocus = (name: string) =>
    page
      .locator(':focus')
      .and(page.getByRole('button', { name, exact: true }))
      .waitFor()

  it('menus, dialogs and choices are used, and the focus returns to where it was', async () => {
    await org.call('POST', '/workflows', { name: 'By keyboard' })
    await page.goto(url('/workflows'))
    await page.getByRole('button', { name: 'Actions for By keyboard' }).press('Enter')
    await page.getByRole('menuitem', { name: 'Rename' }).press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Rename workflow' })
    await dialog.getByRole('textbox', { name: 'Name' }).press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    await hasFocus('Actions for By keyboard')
    await page.getByRole('button', { name: 'New workflow' }).press('Control+k')
    await page.getByRole('dialog', { name: 'Command palette' }).waitFor()
    await page.keyboard.press('Escape')
    await hasFocus('New workflow')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await page.keyboard.press('Escape')
    await hasFocus('New workflow')
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Command palette' }).getByRole('combobox').fill('Usage')
    await page.keyboard.press('Enter')
    await h1('Usage').waitFor()
    const period = page.getByRole('combobox', { name: 'Period' })
    await period.press('ArrowDown')
    await period.press('ArrowDown')
    await period.press('Enter')
    await expect.poll(() => period.inputValue()).toBe('Today')
  })
})

describe('what people and other programs wrote', LONG, () => {
  const PAYLOAD = '<img src=x onerror="window.ran=1"><script>window.ran=2</script>'

  it('is shown as text on every screen, and never run', async () => {
    const other = await app.makeOrg()
    const reader = await dashboard.open(other, '/workflows')
    const session = (await (await reader.request.get(url('/internal/session'))).json()).data
    const headers = { origin: dashboard.url, 'x-loam-csrf': session.csrf_token }
    const send = async (method: string, path: string, data: unknown) => {
      const answer = await reader.request.fetch(url(`/internal${path}`), { method, headers, data })
      expect([path, answer.status(), answer.ok() || (await answer.text())]).toEqual([
        path,
        answer.status(),
        true,
      ])
      return (await answer.json()).data
    }
    const id: string = (await send('POST', '/api/v1/workflows', { name: PAYLOAD })).workflow_id
    const sheet = `/workflows/${id}/sheets/${id}`
    await send('POST', `/api/v1${sheet}/inputs`, [{ name: PAYLOAD, type: 'string', description: PAYLOAD }])
    await send('POST', `/api/v1${sheet}/actions/add`, {
      action_id: 'format_data_using_js_expression',
      name: PAYLOAD,
      inputs: { data_formatter: `(() => { throw new Error(${JSON.stringify(PAYLOAD)}) })()` },
    })
    await send('POST', `/api/v1${sheet}/rows`, { rows: [{ [PAYLOAD]: PAYLOAD }], run_after_add: 'all' })
    const webhook = await send('POST', `${sheet}/webhook`, {})
    await reader.request.post(webhook.address, { data: { other: PAYLOAD } })
    const shortcut: string = (
      await send('POST', '/shortcuts', { workflow_id: id, name: PAYLOAD, description: PAYLOAD })
    ).id
    const reference: string = (await send('GET', `/api/v1/shortcuts/${shortcut}`, undefined)).input_schema[0]
      .reference
    await send('POST', `/api/v1/shortcuts/${shortcut}/run`, { input_data: { [reference]: PAYLOAD } })
    await recordsOf(app).ingest(other.orgId, 'test', company('payload.example', { name: PAYLOAD }))
    const filter = [{ conditions: [{ variable: 'name', operator: 'is', values: [PAYLOAD] }] }]
    const segment = await send('POST', '/segments', { name: PAYLOAD, kind: 'company', filter })
    await send('POST', `/api/v1/records/segments/${segment.id}/sync`, {
      workflow_id: id,
      field_mapping: { [`input.${PAYLOAD}`]: 'name' },
    })
    const budget = { scope: 'workflow', subject: id, period: 'month', limit: 1, name: PAYLOAD }
    await send('POST', '/api/v1/credits/budgets', budget)
    await send('POST', '/connections', {
      provider: 'hubspot',
      name: PAYLOAD.slice(0, 90),
      fields: { secret: 'x' },
    })
    const source = await send('POST', '/api/v1/sources/track_website_visitors', {
      active_domain: 'payload.example',
      name: PAYLOAD,
    })
    const screens = [
      '/workflows',
      `${sheet}/runs`,
      `${sheet}/webhook`,
      '/sources',
      `/sources/${source.source_instance_id}`,
      '/shortcuts',
      `/shortcuts/${shortcut}`,
      '/records',
      '/segments',
      '/usage',
      '/settings/connections',
      '/settings/audit',
    ]
    const shown = reader.getByRole('main').getByText('<img src=x onerror=').first()
    for (const screen of screens) {
      await reader.goto(url(screen))
      await shown.waitFor()
    }
    await reader.keyboard.press('Control+k')
    await reader.getByRole('dialog').getByText('<img src=x onerror=').first().waitFor()
    await reader.keyboard.press('Escape')
    expect(await reader.evaluate('window.ran')).toBeUndefined()
    expect(await reader.locator('img[src="x"]').count()).toBe(0)
    await reader.context().close()
  })
})

describe('a server that fails', LONG, () => {
  it('is said by each screen with the reason, the request and a way to try again', async () => {
    const broken = {
      status: 500,
      headers: { 'x-request-id': 'request-7' },
      json: { status: 500, error: 'Internal Server Error', message: 'It broke' },
    }
    const tab = await page.context().newPage()
    // Its timers are ours: what is tried again after a while is tried again at once.
    await tab.clock.install()
    const isData = (address: URL) =>
      address.pathname.startsWith('/internal/') && address.pathname !== '/internal/session'
    // Each says it in its own way; the others are made as the sources are.
    const different = new Set([
      '/workflows',
      '/sources',
      '/records',
      '/segments',
      '/usage',
      '/settings/audit',
    ])
    const screens = SCREENS.filter(([path]) => different.has(path))
    for (const [path, heading] of screens) {
      await tab.route(isData, (route) => route.fulfill(broken))
      await tab.goto(url(path))
      const alert = tab.getByRole('main').getByRole('alert').filter({ hasText: 'It broke' })
      await expect
        .poll(async () => {
          await tab.clock.runFor(5000)
          return alert.count()
        })
        .toBeGreaterThan(0)
      await alert.first().getByText('Request request-7').waitFor()
      await alert.first().getByRole('button', { name: 'Retry' }).waitFor()
      await h1(heading, tab).waitFor()
      await tab.unroute(isData)
      // Parts of a screen fail one by one, and each has a button of its own.
      await expect
        .poll(async () => {
          await tab.evaluate(
            `for (const one of document.querySelectorAll('main [role=alert] button')) one.click()`,
          )
          await tab.clock.runFor(1000)
          return alert.count()
        })
        .toBe(0)
    }
    await tab.close()
  })
})
