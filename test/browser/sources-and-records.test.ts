import type { Page } from 'playwright-core'
import { afterEach, expect, it } from 'vitest'
import { filterOf, segmentsOf, where } from '#server/records/segments/testing/segments.ts'
import { company, recordsOf } from '#server/records/testing/records.ts'
import { serveHttp } from '../doubles/loopback-server.ts'
import { axeFindings, problems, startDashboard } from './dashboard.ts'
import { heading, toast } from './steps.ts'

const dashboard = await startDashboard()
const { app } = dashboard

/** The timeout of tests that open many pages, on machines that may be slow and busy. */
const LONG = { timeout: 300_000 }
const LOOKS = [
  { theme: 'light', width: 1440 },
  { theme: 'dark', width: 390 },
] as const

afterEach(() => {
  expect(problems.splice(0), 'scripts that threw, or that the policy refused').toEqual([])
})

async function choose(page: Page, field: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: field, exact: true }).click()
  await page.getByRole('option', { name: option, exact: true }).click()
}
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const type = (page: Page, field: string, text: string) =>
  page.getByRole('textbox', { name: field, exact: true }).fill(text)
const step = (page: Page, name: string) =>
  page.getByRole('list', { name: 'Steps' }).locator('[aria-current=step]').getByText(name).waitFor()
const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const fitsWidth = async (page: Page) =>
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
async function check(page: Page, name: string): Promise<void> {
  expect(await axeFindings(page), name).toEqual([])
  await fitsWidth(page)
}

/** Serves a list of companies, and counts how often it was read. */
async function serveCompanies(count: number) {
  const items = Array.from({ length: count }, (_, place) => ({
    id: place + 1,
    company_name: `Company ${place + 1}`,
    site: `https://c${place + 1}.example`,
  }))
  const { origin } = await serveHttp((request, response) => {
    if (request.url?.startsWith('/items') !== true) {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}')
      return
    }
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ data: items }))
  })
  return { origin, items }
}

it.each(LOOKS)(
  'H14: a source is picked, previewed as one types, mapped, scheduled and created, at $width $theme',
  LONG,
  async (look) => {
    const org = await app.makeOrg()
    const { origin } = await serveCompanies(25)
    const page = await dashboard.open(org, '/sources', look)
    await heading(page, 'Sources')
    await press(page, 'New source')
    await heading(page, 'New source')
    await step(page, 'Pick')
    await check(page, 'the gallery')
    // A gallery by name and provider; nothing is a code.
    await page.getByRole('searchbox', { name: 'Search sources' }).fill('theirstack')
    await page.getByRole('button', { name: 'Find companies that hire', exact: true }).waitFor()
    await page.getByRole('searchbox', { name: 'Search sources' }).fill('api')
    await press(page, 'Import from an API')

    // A type that takes no account has no step for it.
    await step(page, 'Preview')
    const preview = region(page, 'Preview')
    await preview.getByText('Fill in URL to see the first records.').waitFor()
    expect(await page.getByRole('button', { name: 'Next', exact: true }).isDisabled()).toBe(true)
    const url = page.getByRole('textbox', { name: 'URL', exact: true })
    expect(await url.getAttribute('data-field')).toBe('url')

    // A preview that fails says so at its field, in the pane and in the line that is always in view.
    await url.fill('nonsense')
    await preview.getByRole('alert').getByText('The preview could not be read').waitFor()
    await expect.poll(() => url.getAttribute('aria-invalid')).toBe('true')
    const foot = page.getByText(/^The preview failed\. URL/)
    await foot.waitFor()
    await expect.poll(() => isInView(page, /^The preview failed\. URL/)).toBe(true)
    await url.fill(`${origin}/nowhere`)
    await preview.getByRole('alert').getByText(/404/).waitFor()

    await url.fill(`${origin}/items`)
    await type(page, 'Path to the list', 'data')
    const table = preview.getByRole('table', { name: 'Preview' })
    await table.getByRole('cell', { name: 'Company 1', exact: true }).waitFor()
    await table.getByRole('columnheader', { name: 'Company name' }).waitFor()
    expect(await table.getByRole('row').count()).toBe(11)
    await type(page, 'Unique ID field', 'id')
    await press(page, 'Advanced')
    await page.getByRole('combobox', { name: 'Paging', exact: true }).waitFor()
    await check(page, 'the preview')
    await press(page, 'Next')

    await step(page, 'Map')
    await type(page, 'Workflow name', 'Partners')
    const fields = page.getByRole('table', { name: 'Fields' })
    await fields.getByText('Company 1', { exact: true }).waitFor()
    await choose(page, 'Column for ID', 'Do not import')
    await check(page, 'the mapping')
    await press(page, 'Next')

    await step(page, 'Schedule')
    const said = page.getByRole('status', { name: 'Schedule' })
    await said.getByText('Imports: Once.').waitFor()
    await choose(page, 'How often', 'Every week')
    await choose(page, 'Day', 'Tuesday')
    await page.getByLabel('Time', { exact: true }).fill('08:30')
    await said.getByText(/Imports: Every Tuesday at 08:30/).waitFor()
    await type(page, 'Most records', '20')
    await check(page, 'the schedule')
    await press(page, 'Next')

    await step(page, 'Create')
    await type(page, 'Name', 'Partner list')
    const summary = page.getByRole('list', { name: 'Summary' })
    await summary.getByText(/It repeats: every Tuesday at 08:30/).waitFor()
    await summary
      .getByText('Each record becomes a row of the new workflow “Partners”, with 2 columns filled.')
      .waitFor()
    await summary.getByText('It ends after 20 records.').waitFor()
    await check(page, 'the summary')
    await press(page, 'Create')

    await heading(page, 'Partner list')
    const state = region(page, 'State')
    await state.getByText('Import from an API', { exact: true }).waitFor()
    await state.getByText(/^Every Tuesday at 08:30/).waitFor()
    await page.getByRole('table', { name: 'Syncs' }).getByRole('link', { name: 'Partners' }).waitFor()
    await page.getByText('20 records', { exact: true }).waitFor()
    await check(page, 'the source')
    await page.getByRole('table', { name: 'Syncs' }).getByRole('link', { name: 'Partners' }).click()
    await page.getByRole('status', { name: 'Row count' }).getByText('20 rows').waitFor()
    await page.getByRole('columnheader', { name: 'Company name', exact: true }).waitFor()
  },
)

it(
  'H14: a source that needs an account is connected on the way; a failed preview is said in words',
  LONG,
  async () => {
    const org = await app.makeOrg()
    const page = await dashboard.open(org, '/sources/new')
    await page.getByRole('searchbox', { name: 'Search sources' }).fill('hubspot')
    await press(page, 'Import from HubSpot')
    await step(page, 'Connect')
    await page.getByText('This source needs an account with HubSpot. Connect it to go on.').waitFor()
    expect(await page.getByRole('button', { name: 'Next', exact: true }).isDisabled()).toBe(true)
    await press(page, 'Connect HubSpot')
    const dialog = page.getByRole('dialog', { name: 'Connect HubSpot' })
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Our CRM')
    await dialog.locator('input[data-field=secret]').fill('pat-eu1-wrong')
    await check(page, 'the connection')
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
    await page.getByRole('radio', { name: /^Our CRM/ }).waitFor()
    expect(await page.getByRole('radio', { name: /^Our CRM/ }).isChecked()).toBe(true)
    await check(page, 'the account')
    await press(page, 'Next')
    await step(page, 'Preview')
    await region(page, 'Preview')
      .getByText('Fill in Object and Properties to see the first records.')
      .waitFor()
    await press(page, 'Back')
    await step(page, 'Connect')
  },
)

it('H14: a source is edited and deleted, and the screen says what that means', LONG, async () => {
  const org = await app.makeOrg()
  const { origin } = await serveCompanies(3)
  const made = await org.call('POST', '/workflows', { name: 'Partners' })
  const workflow: string = made.body.data.workflow_id
  await org.call('POST', `/workflows/${workflow}/sheets/${workflow}/inputs`, [
    { name: 'Name', type: 'string' },
  ])
  const source = await org.call('POST', '/sources/import_from_api', {
    name: 'List',
    url: `${origin}/items`,
    items_path: 'data',
    key_path: 'id',
    headers: { 'X-Team': 'sales' },
  })
  const id: string = source.body.data.source_instance_id
  const page = await dashboard.open(org, `/sources/${id}`)
  await page.getByText('3 records', { exact: true }).waitFor()
  await press(page, 'Sync to a workflow')
  await choose(page, 'Workflow', 'Partners')
  await choose(page, 'Field for Name', 'Company name')
  await press(page, 'Sync')
  const syncs = page.getByRole('table', { name: 'Syncs' })
  await syncs.getByText('Company name → Name').waitFor()
  await press(page, 'Edit the sync into Partners')
  await choose(page, 'When a record changes', 'Update the row')
  await page
    .getByRole('dialog', { name: 'Edit sync' })
    .getByRole('button', { name: 'Save', exact: true })
    .click()
  await syncs.getByText('Update the row').waitFor()

  await press(page, 'Edit')
  await heading(page, 'Edit List')
  const impact = page.getByRole('status', { name: 'Impact' })
  await impact.getByText('Nothing that the source reads has changed.').waitFor()
  await choose(page, 'How often', 'Every day')
  await impact.getByText(/^Saving changes when the source imports/).waitFor()
  await type(page, 'URL', `${origin}/items?since=2026`)
  await impact
    .getByText(/^Saving reads everything again from the beginning\. The 3 imported records/)
    .waitFor()
  await region(page, 'Preview').getByRole('cell', { name: 'Company 3', exact: true }).waitFor()
  await check(page, 'editing')
  await press(page, 'Save')
  await heading(page, 'List')
  await toast(page, 'Saved. The source reads everything again now')
  await region(page, 'State')
    .getByText(/^Every day at/)
    .waitFor()
  const { body } = await org.call('GET', `/sources/${id}`)
  expect(body.data.fields).toEqual({
    url: `${origin}/items?since=2026`,
    items_path: 'data',
    key_path: 'id',
    headers: { 'X-Team': 'sales' },
  })
  expect(body.data.lead_count).toBe(3)

  await press(page, 'Delete')
  const dialog = page.getByRole('dialog', { name: 'Delete List' })
  const lost = dialog.getByRole('list', { name: 'Impact' })
  await lost.getByText('3 imported records will be deleted.').waitFor()
  await lost.getByText('3 rows in “Partners” will stay. No further rows will arrive there.').waitFor()
  await lost.getByText('The scheduled imports end.').waitFor()
  await check(page, 'deleting')
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByText('No sources yet').waitFor()
})

it('H14: a source that receives has no preview and no schedule; its script is shown', LONG, async () => {
  const org = await app.makeOrg()
  const page = await dashboard.open(org, '/sources/new?type=track_website_visitors')
  await page.getByText(/^Optional: connect/).waitFor()
  await press(page, 'Next')
  await page.getByText('There is no preview: records arrive when people visit the website.').waitFor()
  await type(page, 'Website', 'acme.com')
  await press(page, 'Next')
  await choose(page, 'Add rows to', 'No workflow yet')
  await press(page, 'Next')
  await step(page, 'Schedule')
  expect(await page.getByRole('combobox', { name: 'How often' }).count()).toBe(0)
  await press(page, 'Next')
  await page.getByText(/You get the script to add to its pages next/).waitFor()
  await type(page, 'Name', 'Acme visitors')
  await press(page, 'Create')
  await heading(page, 'Acme visitors')
  await page.getByRole('textbox', { name: 'Tracking script' }).waitFor()
  await page.goto(`${dashboard.url}/sources`)
  await press(page, 'Pause Acme visitors')
  await press(page, 'Resume Acme visitors')
  await page.getByRole('button', { name: 'Pause Acme visitors' }).waitFor()
})

const person = (email: string, fields: object) => ({
  kind: 'person' as const,
  identifiers: [{ kind: 'email' as const, value: email }],
  fields: { ...fields },
  relationships: [
    {
      type: 'works_at',
      to: { kind: 'company' as const, identifiers: [{ kind: 'domain' as const, value: 'acme.example' }] },
    },
  ],
  observed_at: '2026-01-02T00:00:00Z',
})

it.each(LOOKS)(
  'H15: records are shown and found by value, each with a page; segments open their members, at $width $theme',
  LONG,
  async (look) => {
    const org = await app.makeOrg()
    const { ingest } = recordsOf(app)
    await ingest(
      org.orgId,
      'hubspot',
      company('acme.example', { name: 'Acme', industry: 'Software', country: 'Germany', staff: 80 }),
      company('other.example', { name: 'Other', industry: 'Steel', country: 'France' }),
    )
    await ingest(org.orgId, 'csv', company('acme.example', { staff: 95 }, '2026-02-01T00:00:00Z'))
    await ingest(
      org.orgId,
      'hubspot',
      person('ada@acme.example', { full_name: 'Ada Lovelace', title: 'Head of Sales' }),
    )
    const { create, evaluate } = segmentsOf(app)
    const segment = await create(org.orgId, filterOf(where('industry', 'is', 'Software')))
    await app.store.query({
      text: 'update record_segments set name = $1 where segment_id = $2',
      values: ['Makers', segment],
    })
    await evaluate(org.orgId, segment)
    const page = await dashboard.open(org, '/records', look)
    await heading(page, 'Records')
    const companies = page.getByRole('table', { name: 'Companies' })
    const acme = companies.getByRole('row').filter({ hasText: 'Acme' })
    for (const value of ['acme.example', 'Software', 'Germany'])
      await acme.getByText(value, { exact: true }).waitFor()
    await check(page, 'the list')

    // By a value, by another one, by a part, and by nothing that is there.
    const search = page.getByRole('searchbox', { name: 'Search records' })
    await search.fill('steel')
    await page.getByRole('status', { name: 'Search' }).getByText('1 record', { exact: true }).waitFor()
    await companies.getByRole('link', { name: 'Other' }).waitFor()
    await search.fill('germ')
    await companies.getByRole('link', { name: 'Acme' }).waitFor()
    await search.fill('nothing like it')
    await page.getByText('No value of these companies contains “nothing like it”.').waitFor()
    await search.fill('head of')
    await page.getByRole('tab', { name: 'People' }).click()
    await page.getByRole('table', { name: 'People' }).getByText('Head of Sales').waitFor()
    await page.getByRole('link', { name: 'Ada Lovelace' }).click()

    // The page of a person leads to the company, whose page has values, history and relations.
    await heading(page, 'Ada Lovelace')
    await page.getByRole('table', { name: 'Relations' }).getByText('Works at Acme').waitFor()
    await page.getByRole('table', { name: 'Relations' }).getByRole('link', { name: 'Acme' }).click()
    await heading(page, 'Acme')
    const values = page.getByRole('table', { name: 'Values' })
    await values.getByRole('row').filter({ hasText: 'Staff' }).getByText('95', { exact: true }).waitFor()
    await values.getByText('HubSpot').first().waitFor()
    const history = page.getByRole('table', { name: 'History' })
    const former = history.getByRole('row').filter({ hasText: '80' })
    await former.getByText('Replaced').waitFor()
    await page.getByRole('table', { name: 'Relations' }).getByText('Ada Lovelace works at Acme').waitFor()
    expect(await page.getByRole('main').innerText()).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/)
    await check(page, 'the page of a record')

    await page.goto(`${dashboard.url}/segments`)
    await page.getByRole('table', { name: 'Segments' }).getByRole('link', { name: 'Makers' }).click()
    await heading(page, 'Makers')
    await page.getByText('1 member.').waitFor()
    await page.getByRole('table', { name: 'Members' }).getByRole('link', { name: 'Acme' }).waitFor()
    await check(page, 'the members')
    await page.getByRole('table', { name: 'Members' }).getByRole('link', { name: 'Acme' }).click()
    await page.getByRole('region', { name: 'Summary' }).getByRole('link', { name: 'Makers' }).waitFor()
  },
)

async function isInView(page: Page, text: RegExp): Promise<boolean> {
  const box = await page.getByText(text).boundingBox()
  return box !== null && box.y >= 0 && box.y + box.height <= 900
}
