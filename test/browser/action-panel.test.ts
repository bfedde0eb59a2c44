import type { Locator, Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { axeFindings, problems, startDashboard } from './dashboard.ts'
import { makeSheet, paste, toast } from './steps.ts'

const dashboard = await startDashboard({ LOAM_PROVIDER_KEY_HUNTER: 'k' })
const { app } = dashboard

/** The timeout of tests that open many panels, on machines that may be slow and busy. */
const LONG = { timeout: 300_000 }

afterEach(() => {
  expect(problems.splice(0), 'scripts that threw, or that the policy refused').toEqual([])
})

const panelOf = (page: Page, name: string) =>
  page.getByRole('region', { name: `Action ${name}`, exact: true })
const tokens = async (field: Locator) => {
  const chips = await field.locator('[data-token]').all()
  return Promise.all(chips.map((chip) => chip.getAttribute('data-token')))
}
const copied = (page: Page): Promise<string> => page.evaluate('navigator.clipboard.readText()')

describe('the panel of an action', LONG, () => {
  it('H1, H2, H6: a new action is filled by labels and chips, asks before it is left, and is only added when it is saved', async () => {
    const org = await app.makeOrg()
    const notes = JSON.stringify({ tech: ['react', 'node'] })
    const sheet = await makeSheet(org, 'Calls', [], ['domain', 'notes'])
    await org.call('POST', `${sheet}/rows`, { rows: [{ domain: 'acme.example', notes }] })
    const actions = async () => (await org.call('GET', `${sheet}/actions/graph`)).body.data.slice(1)
    const page = await dashboard.open(org, sheet)
    await page.getByRole('gridcell', { name: 'acme.example' }).waitFor()
    const choose = async () => {
      await page.getByRole('button', { name: 'Add action' }).click()
      await page.getByRole('searchbox', { name: 'Search actions' }).fill('http')
      await page.getByRole('option', { name: /^HTTP API call/ }).click()
    }
    const panel = panelOf(page, 'HTTP API call')
    await choose()
    await panel.getByRole('list', { name: 'Warnings' }).getByText('Choose a method').waitFor()
    await panel.getByLabel('Note').fill('Left behind')
    await panel.getByRole('button', { name: 'Cancel' }).click()
    await panel.waitFor({ state: 'detached' })
    expect(await actions()).toEqual([])

    await choose()
    await panel.getByRole('combobox', { name: 'Method' }).click()
    await page.getByRole('option', { name: 'GET' }).click()
    const url = panel.getByRole('textbox', { name: 'URL' })
    await url.pressSequentially('https://a.example/{{acme')
    const references = page.getByRole('listbox', { name: 'References' })
    await references.getByRole('option', { name: 'domain', exact: true }).waitFor()
    await page.keyboard.press('Enter')
    const chip = url.locator('[data-token="{{input.domain}}"]')
    await chip.waitFor()
    expect(await chip.getAttribute('aria-label')).toBe('domain, string, acme.example')

    await panel.getByRole('button', { name: 'Close' }).click()
    const unsaved = page.getByRole('dialog', { name: 'Unsaved changes' })
    await unsaved.getByRole('button', { name: 'Keep editing' }).click()
    await unsaved.waitFor({ state: 'detached' })

    // Backspace removes a chip whole, and undo brings it back; copied text is that of the token.
    await url.click()
    await page.keyboard.press('Control+End')
    await page.keyboard.press('Backspace')
    await chip.waitFor({ state: 'detached' })
    await page.keyboard.press('Control+z')
    await chip.waitFor()
    await page.keyboard.press('Control+a')
    await page.keyboard.press('Control+c')
    await expect.poll(() => copied(page)).toBe('https://a.example/{{input.domain}}')
    await page.keyboard.press('Control+End')
    await paste(page, '?q={{gone_1.x}}')
    await url.locator('[data-token="{{gone_1.x}}"][aria-invalid="true"]').waitFor()
    await page.keyboard.press('Backspace')
    expect(await tokens(url)).toEqual(['{{input.domain}}'])
    await page.getByRole('columnheader', { name: 'notes' }).getByText('notes').dragTo(url)
    await expect.poll(() => tokens(url)).toContain('{{input.notes}}')
    await url.fill('https://a.example/{{input.domain}}')

    const headers = panel.getByRole('group', { name: 'Headers', exact: true })
    await headers.getByRole('button', { name: 'Add row' }).click()
    const row = headers.getByRole('group', { name: 'Row 1' })
    await row.getByRole('textbox', { name: 'Name' }).fill('X-Tech')
    await row.getByRole('button', { name: 'Insert column into Value' }).click()
    await page.getByRole('searchbox', { name: 'Search columns and values' }).fill('tech › 1')
    await references.getByRole('option', { name: 'notes › tech › 1' }).click()
    expect(await tokens(row)).toEqual(['{{input.notes.tech[1]}}'])

    const query = panel.getByRole('group', { name: 'Query parameters', exact: true })
    await query.getByRole('switch', { name: 'Raw JSON' }).click()
    await query.getByRole('textbox').fill('[{"name": "limit", "value": "10"')
    await query.getByRole('alert').getByText('never closed').waitFor()
    const save = panel.getByRole('button', { name: 'Save', exact: true })
    expect(await save.isDisabled()).toBe(true)
    await query.getByRole('textbox').fill('[{"name": "limit", "value": "10"}]')
    await query.getByRole('switch', { name: 'Raw JSON' }).click()
    await query.getByRole('group', { name: 'Row 1' }).getByText('10').waitFor()

    await panel.getByRole('button', { name: 'Advanced' }).click()
    await panel.getByRole('textbox', { name: 'Timeout in seconds' }).fill('12')
    await panel.getByRole('switch', { name: 'API names' }).click()
    await panel.getByText('timeout_seconds', { exact: true }).waitFor()
    expect(await axeFindings(page), 'a filled panel').toEqual([])
    expect(await actions()).toEqual([])
    await save.click()
    await toast(page, 'Saved HTTP API call')
    await expect.poll(async () => (await actions()).length).toBe(1)
    expect((await actions())[0].inputs).toEqual({
      method: 'GET',
      endpoint: 'https://a.example/{{input.domain}}',
      query_params: [{ name: 'limit', value: '10', label: 'limit' }],
      headers: [{ name: 'X-Tech', value: '{{input.notes.tech[1]}}', label: 'X-Tech' }],
      timeout_seconds: '12',
    })
    await page.context().close()
  })

  it('H2: columns that are inserted one after the other into a text stand apart, and in an address they do not', async () => {
    const org = await app.makeOrg()
    const sheet = await makeSheet(org, 'Mails', [], ['first', 'last'])
    await org.call('POST', `${sheet}/rows`, { rows: [{ first: 'Ann', last: 'Lee' }] })
    const page = await dashboard.open(org, sheet)
    await page.getByRole('gridcell', { name: 'Ann' }).waitFor()
    const insert = async (panel: Locator, label: string) => {
      for (const name of ['first', 'last']) {
        await panel.getByRole('button', { name: `Insert column into ${label}` }).click()
        await page
          .getByRole('listbox', { name: 'References' })
          .getByRole('option', { name, exact: true })
          .click()
      }
    }
    const openNew = async (search: string, name: string) => {
      await page.getByRole('button', { name: 'Add action' }).click()
      await page.getByRole('searchbox', { name: 'Search actions' }).fill(search)
      await page.getByRole('option', { name: new RegExp(`^${name}`) }).click()
      return panelOf(page, name)
    }
    const finder = await openNew('work email', 'Find work email')
    await insert(finder, 'Full name')
    await finder.getByRole('button', { name: 'Copy as curl' }).click()
    await expect.poll(() => copied(page)).toContain('{{input.first}} {{input.last}}')
    await finder.getByRole('button', { name: 'Cancel' }).click()
    const http = await openNew('http', 'HTTP API call')
    await insert(http, 'URL')
    await http.getByRole('button', { name: 'Copy as curl' }).click()
    await expect.poll(() => copied(page)).toContain('{{input.first}}{{input.last}}')
    await page.context().close()
  })

  it('H4: the waterfall of an action that is not added yet shows its keys, and keeps only providers with a key', async () => {
    const org = await app.makeOrg()
    const sheet = await makeSheet(org, 'Finder', ['acme.example'])
    const page = await dashboard.open(org, sheet)
    await page.getByRole('button', { name: 'Add action' }).click()
    await page.getByRole('searchbox', { name: 'Search actions' }).fill('work email')
    await page.getByRole('option', { name: /^Find work email/ }).click()
    const panel = panelOf(page, 'Find work email')
    const lines = panel.getByRole('list', { name: 'Email providers', exact: true }).getByRole('listitem')
    await lines.filter({ hasText: 'Hunter' }).getByText('Installation key').waitFor()
    await lines.filter({ hasText: 'No key: skipped' }).first().waitFor()
    await panel
      .getByRole('group', { name: 'Providers of Email providers' })
      .getByRole('button', { name: 'Only with a key' })
      .click()
    await expect.poll(() => lines.allTextContents()).toEqual([expect.stringMatching(/^Hunter/)])
    await page.context().close()
  })

  it('H6: the menu Run stays open while the panel of a new action becomes that of the saved one', async () => {
    const org = await app.makeOrg()
    const sheet = await makeSheet(org, 'Domains', ['acme.example'])
    const page = await dashboard.open(org, sheet)
    await page.getByRole('button', { name: 'Add action' }).click()
    await page.getByRole('searchbox', { name: 'Search actions' }).fill('http')
    await page.getByRole('option', { name: /^HTTP API call/ }).click()
    const panel = panelOf(page, 'HTTP API call')
    await panel.getByRole('textbox', { name: 'URL' }).fill('https://a.example')
    const menuOpened = Promise.withResolvers<void>()
    let loaded = 0
    await page.route(/\/actions\/http_api_call_1$/, async (route) => {
      await menuOpened.promise
      loaded += 1
      await route.continue()
    })
    await panel.getByRole('button', { name: 'Save', exact: true }).click()
    await toast(page, 'Saved HTTP API call')
    await panel.getByRole('textbox', { name: 'URL' }).waitFor({ state: 'detached' })
    await page
      .getByRole('toolbar', { name: 'Sheet' })
      .getByRole('button', { name: 'Run', exact: true })
      .click()
    const all = page.getByRole('menuitem', { name: 'All rows' })
    await all.waitFor()
    menuOpened.resolve()
    await panel.getByRole('textbox', { name: 'URL' }).waitFor()
    expect(loaded).toBeGreaterThan(0)
    await all.click({ timeout: 5000 })
    await page.getByRole('dialog', { name: /Run/ }).waitFor()
    await page.context().close()
  })

  it('H3, H6, H7: a formula, conditions and fields of an answer are edited, and saving runs the rows that it names', async () => {
    const org = await app.makeOrg()
    const sheet = await makeSheet(org, 'Kinds', ['acme.example', ' Bolt.example '])
    const add = async (body: object): Promise<string> =>
      (await org.call('POST', `${sheet}/actions/add`, body)).body.data.action_instance_id
    const size = await add({
      action_id: 'format_data_using_js_expression',
      name: 'Clean',
      inputs: { data_formatter: '{{input.domain}}' },
    })
    const ai = await add({ action_id: 'ai_generate', name: 'Classify' })
    const inputsOf = async (id: string) => (await org.call('GET', `${sheet}/actions/${id}`)).body.data

    const page = await dashboard.open(org, `${sheet}?action=${size}`)
    const clean = panelOf(page, 'Clean')
    const formula = clean.getByRole('textbox', { name: 'Formula' })
    await formula.locator('[data-token]').waitFor()
    await formula.click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('.trim')
    await page.getByRole('option', { name: '.trim()' }).waitFor()
    await page.keyboard.press('Enter')
    await page.keyboard.type(' + (')
    await clean.getByRole('alert').getByText('( is never closed').waitFor()
    await page.keyboard.type('"")')
    await clean.getByRole('alert').waitFor({ state: 'detached' })
    const only = clean.getByRole('group', { name: 'Run only if' })
    await only.getByRole('button', { name: 'Add condition' }).click()
    const condition = only.getByRole('group', { name: 'Condition 1' })
    await condition.getByRole('combobox', { name: 'Operator' }).click()
    await page.getByRole('option', { name: 'contains', exact: true }).click()
    await condition.getByRole('textbox', { name: 'Value' }).fill('example')
    await only.getByText('domain contains "example"').waitFor()
    await clean.getByRole('checkbox', { name: 'If not met, skip this action and continue' }).check()
    await clean.getByRole('checkbox', { name: 'If this fails, keep running the row' }).check()
    await clean.getByRole('button', { name: 'Save and run 2 rows' }).click()
    await page.getByRole('gridcell', { name: 'Complete: Bolt.example', exact: true }).waitFor()
    expect(await inputsOf(size)).toMatchObject({
      inputs: { data_formatter: '{{input.domain}}.trim() + ("")' },
      continue_workflow_if_action_fails: true,
      run_if: { continue_workflow_if_run_condition_not_met: true },
    })

    await page.goto(`${dashboard.url}${sheet}?action=${ai}`)
    const classify = panelOf(page, 'Classify')
    await classify.getByRole('textbox', { name: 'Prompt' }).pressSequentially('Classify /dom')
    await page.keyboard.press('Enter')
    const fields = classify.getByRole('group', { name: 'Answer fields' })
    await fields.getByRole('button', { name: 'Paste an example' }).click()
    await fields.getByRole('textbox', { name: 'Example' }).fill('{"Industry": "Retail", "score": 7}')
    await fields.getByRole('button', { name: 'Use' }).click()
    const first = fields.getByRole('group', { name: 'Field 1' })
    await first.getByRole('textbox', { name: 'Description' }).fill('Its industry')
    await first.getByRole('textbox', { name: 'Choices' }).fill('Retail, SaaS')
    expect(await axeFindings(page), 'a panel with answer fields').toEqual([])
    await classify.getByRole('button', { name: 'Save', exact: true }).click()
    await toast(page, 'Saved Classify')
    const saved = await inputsOf(ai)
    expect(saved.inputs).toEqual({ prompt: 'Classify {{input.domain}}', output_format: 'fields' })
    expect(saved.outputs).toMatchObject([
      { name: 'industry', type: 'string', description: 'Its industry', choices: ['Retail', 'SaaS'] },
      { name: 'score', type: 'number' },
    ])
    // The saved fields are edited again, although the API shows only their form.
    await page.reload()
    await fields
      .getByRole('group', { name: 'Field 2' })
      .getByRole('button', { name: 'Remove field 2' })
      .click()
    await classify.getByRole('button', { name: 'Save', exact: true }).click()
    await expect.poll(async () => (await inputsOf(ai)).outputs.length).toBe(1)
    await page.context().close()
  })

  it('H3: what the API configured in ways that forms cannot show is shown as JSON, and kept by saving', async () => {
    const org = await app.makeOrg()
    const sheet = await makeSheet(org, 'Odd', ['acme.example'])
    const odd = {
      http_api_call: {
        method: '{{input.domain}}',
        endpoint: 'https://a.example/\r\n{{ input.domain }}',
        headers: [{ name: 'X', value: { deep: ['{{input.domain}}'] } }],
        body: [{ name: 'a', value: 'b', label: 'Another', note: 'kept' }],
      },
      send_webhook: { url: 'https://a.example', payload: { deep: [{ domain: '{{input.domain}}' }, null] } },
      merge_lists: { lists: ['{{gone_1.list}}', 'domain'] },
      postgres_query: { sql: 'select 1', params: ['{{input.domain}}', 5, { a: 1 }] },
      person_work_email_waterfall: { email_providers: [{ name: 'Hunter', use_own_key: true }, 'Datagma'] },
    }
    const page = await dashboard.open(org, sheet)
    for (const [action_id, inputs] of Object.entries(odd)) {
      const { body } = await org.call('POST', `${sheet}/actions/add`, { action_id, inputs })
      const path = `${sheet}/actions/${body.data.action_instance_id}`
      const before = (await org.call('GET', path)).body.data
      await page.goto(`${dashboard.url}${sheet}?action=${before.action_instance_id}`)
      const panel = panelOf(page, before.display_name)
      const save = panel.getByRole('button', { name: 'Save', exact: true })
      await panel.getByLabel('Note').fill('Read')
      for (const { name, label, group, kind } of before.fields) {
        if (group === 'advanced') continue
        const control = panel.locator(`[data-field="${name}"]`)
        expect(await control.count(), `${action_id}.${name}`).toBe(1)
        // A waterfall is a list of that name within its part.
        const list = panel.getByRole('list', { name: label, exact: true })
        expect(kind === 'waterfall' ? await list.count() : await nameOf(control), name).toBe(
          kind === 'waterfall' ? 1 : label,
        )
      }
      await save.click()
      await toast(page, `Saved ${before.display_name}`)
      const after = (await org.call('GET', path)).body.data
      expect(after, action_id).toEqual({ ...before, note: 'Read' })
    }
    await page.context().close()
  })
})

/** Returns the name of a control: its label, or the text of the element that is one. */
async function nameOf(control: Locator): Promise<string | null> {
  const id = await control.getAttribute('aria-labelledby')
  return id === null
    ? control.getAttribute('aria-label')
    : control.page().locator(`[id="${id}"]`).textContent()
}
