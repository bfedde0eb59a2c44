import { describe, expect, it } from 'vitest'
import { company, recordsOf } from '#server/records/testing/records.ts'
import { serveHttp } from '../../doubles/loopback-server.ts'
import { LONG, type Tour } from './tour.ts'

/** Tests budgets, sources and segments. */
export function describeSourcesAndSegments({
  app,
  org,
  page,
  url,
  h1,
  checkAccessibility,
  choose,
}: Tour): void {
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
      await dialog.getByRole('textbox', { name: 'Webhook URL' }).fill('https://alerts.example/budget')
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
      await edit.getByRole('button', { name: 'Save', exact: true }).click()
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
      await page.getByRole('textbox', { name: 'Tracking script' }).waitFor()
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
      await dialog.getByRole('status').getByText('2 of 3 match now').waitFor()
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
      await edit.getByRole('button', { name: 'Save', exact: true }).click()
      await table.getByRole('cell', { name: '1', exact: true }).waitFor()
      await page.getByRole('button', { name: 'Delete sync of Large' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
      await page.getByRole('region', { name: 'Sync of Large' }).waitFor({ state: 'hidden' })
      await page.getByRole('button', { name: 'Delete Large', exact: true }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
      await page.getByText('No segments yet').waitFor()
    })
  })
}
