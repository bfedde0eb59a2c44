import { describe, expect, it } from 'vitest'
import { company, recordsOf } from '#server/records/testing/records.ts'
import { LONG, type Tour } from './tour.ts'

/** Tests budgets and segments. */
export function describeSourcesAndSegments({ app, org, page, url, checkAccessibility, choose }: Tour): void {
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
        .toBe('Domain')
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
