import { afterEach, describe, expect, it } from 'vitest'
import { company, recordsOf } from '#server/records/testing/records.ts'
import { serveHttp } from '../doubles/loopback-server.ts'
import { problems, startDashboard } from './dashboard.ts'
import { status } from './steps.ts'
import { findUnfitTexts } from './unfit-texts.ts'

const dashboard = await startDashboard()
const { app } = dashboard
/** The timeout of tests that open many screens, on machines that may be slow and busy. */
const LONG = { timeout: 300_000 }

afterEach(() => {
  expect(problems.splice(0), 'scripts that threw, or that the policy refused').toEqual([])
})

/** Makes a sheet of one row of each kind: found, without a result, skipped, failed; with a list and an object as answers. */
async function makeMessySheet(org: Awaited<ReturnType<typeof app.makeOrg>>, origin: string): Promise<string> {
  const id: string = (await org.call('POST', '/workflows', { name: 'Messy leads' })).body.data.workflow_id
  const sheet = `/workflows/${id}/sheets/${id}`
  await org.call('POST', `${sheet}/inputs`, [
    { name: 'Site', type: 'url' },
    { name: 'Size', type: 'number' },
  ])
  const add = (body: object) => org.call('POST', `${sheet}/actions/add`, body)
  await add({ action_id: 'normalize_domain', name: 'Domain', inputs: { value: '{{input.Site}}' } })
  await add({
    action_id: 'http_api_call',
    name: 'Company',
    inputs: { method: 'GET', endpoint: `${origin}/{{normalize_domain_1.domain}}` },
    continue_workflow_if_action_fails: true,
  })
  await add({
    action_id: 'format_data_using_js_expression',
    name: 'Level',
    inputs: { data_formatter: '{{input.Size}}.match(/\\d+/)[0] > 100 ? "large" : null' },
    run_if: {
      conditions: [{ conditions: [{ variable: '{{input.Site}}', operator: 'is not empty', values: [] }] }],
      continue_workflow_if_run_condition_not_met: true,
    },
  })
  const rows = [
    { Site: 'https://good.example/x', Size: '1200' },
    { Site: 'no site', Size: 'many' },
    { Site: '', Size: '7' },
    { Site: 'bad.example', Size: '' },
  ]
  await org.call('POST', `${sheet}/rows`, { rows })
  await org.call('POST', `${sheet}/run-all`, { max_credits: 5 })
  return sheet
}

describe('texts are for people: no ids, codes, JSON, plurals of one, values of the program', LONG, () => {
  it('on the screens and panels of a sheet', async () => {
    const org = await app.makeOrg()
    const { origin } = await serveHttp((request, response) => {
      response.statusCode = request.url === '/good.example' ? 200 : 422
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify(
          response.statusCode === 200 ? { tags: ['a', 'b'], place: { city: 'Oslo' } } : { message: 'no' },
        ),
      )
    })
    const sheet = await makeMessySheet(org, origin)
    const page = await dashboard.open(org, sheet)
    const unfit: string[] = []
    const look = async (where: string) => {
      for (const text of await findUnfitTexts(page)) unfit.push(`${where}: ${text}`)
    }
    await status(page, 'Last run', /4 of 4 rows/)
    await look('the sheet')
    for (const name of ['Domain', 'Company', 'Level']) {
      await page
        .getByRole('list', { name: 'Action chain' })
        .getByRole('button', { name, exact: true })
        .click()
      const panel = page.getByRole('region', { name: `Action ${name}`, exact: true })
      await panel.getByRole('button', { name: 'Test', exact: true }).click()
      await panel.getByRole('status', { name: 'Answer' }).waitFor()
      await look(`the panel of ${name}`)
      await panel.getByRole('button', { name: 'Close' }).click()
    }
    for (const cell of await page
      .getByRole('gridcell', { name: /^(Complete|Failed|Error|Skipped|No result)/ })
      .all()) {
      await cell.dblclick()
      await page
        .getByRole('region', { name: /^Cell / })
        .getByRole('status')
        .first()
        .waitFor()
      await look(`the cell ${(await cell.getAttribute('aria-label')) ?? ''}`)
    }
    await page.getByRole('button', { name: /failed cells?$/ }).click()
    await page.getByRole('dialog', { name: 'Failures by cause' }).getByRole('row').nth(1).waitFor()
    await look('failures by cause')
    await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).first().click()
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Failed rows' }).click()
    await page.getByText(/^Estimate:/).waitFor()
    await look('the dialog of a run')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Add action' }).click()
    await page.getByRole('dialog', { name: 'Add action' }).getByRole('option').first().waitFor()
    await look('the gallery')
    await page.keyboard.press('Escape')
    for (const screen of ['runs', 'import', 'export', 'schedule', 'webhook']) {
      await page.goto(`${dashboard.url}${sheet}/${screen}`)
      await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor()
      if (screen === 'runs') {
        await page.getByRole('cell', { name: /, with an API key$/ }).waitFor()
        // A click anywhere on its row opens a run.
        await page
          .getByRole('table', { name: 'Runs', exact: true })
          .getByRole('cell', { name: 'Finished' })
          .click()
      }
      await look(screen)
    }
    expect(unfit).toEqual([])
    await page.context().close()
  })

  it('on all other screens, with one of everything', async () => {
    const org = await app.makeOrg()
    const { origin } = await serveHttp((_request, response) => {
      response.end(JSON.stringify([{ id: 1, note: 'first', place: { city: 'Oslo' } }]))
    })
    const sheet = await makeMessySheet(org, origin)
    const id = sheet.split('/')[2] ?? ''
    await org.call('POST', `/workflows/${id}/shortcut`, { name: 'Check' })
    await recordsOf(app).ingest(org.orgId, 'test', company('acme.example', { name: 'Acme' }))
    const source = await org.call('POST', '/sources/import_from_api', {
      url: origin,
      key_path: 'id',
      name: 'Notes',
    })
    await org.call('POST', '/credits/budgets', {
      scope: 'workflow',
      subject: id,
      period: 'month',
      limit: 1,
      name: 'Monthly',
    })
    const page = await dashboard.open(org, '/workflows')
    const unfit: string[] = []
    const screens = [
      '/workflows',
      '/sources',
      `/sources/${String(source.body.data?.source_instance_id)}`,
      '/shortcuts',
      '/records',
      '/segments',
      '/usage',
      '/settings',
      '/settings/members',
      '/settings/keys',
      '/settings/connections',
      '/settings/environment',
      '/settings/sessions',
      '/settings/audit',
      '/settings/health',
      '/nope',
    ]
    for (const screen of screens) {
      await page.goto(`${dashboard.url}${screen}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.waitForLoadState('networkidle')
      for (const text of await findUnfitTexts(page)) unfit.push(`${screen}: ${text}`)
    }
    expect(unfit).toEqual([])
    await page.context().close()
  })
})
