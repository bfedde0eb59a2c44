import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LONG, type Tour } from './tour.ts'

/** Tests runs, import, export, schedule, webhook and shortcut of a sheet. */
export function describeScreensOfASheet({
  org,
  page,
  url,
  h1,
  checkAccessibility,
  makeSheet,
  choose,
}: Tour): void {
  describe('screens of a sheet', LONG, () => {
    it('runs are listed; failures are grouped by cause, shown by one click and run again by another', async () => {
      const sheet = await makeSheet('Causes')
      await org.call('POST', `${sheet}/run-all`)
      await page.goto(url(`${sheet}/runs`))
      const runs = page.getByRole('table', { name: 'Runs', exact: true })
      await runs.getByRole('cell', { name: '2 of 2' }).waitFor()
      const causes = page.getByRole('table', { name: 'Failures by cause' })
      await causes.getByRole('cell', { name: /no good/i }).waitFor()
      await checkAccessibility()
      await causes.getByRole('button', { name: 'Run again' }).click()
      await runs.getByRole('cell', { name: '1 of 1' }).waitFor()
      await causes.getByRole('button', { name: 'Show rows' }).click()
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
        page.getByRole('button', { name: 'Download mismatches' }).click(),
      ])
      expect(readFileSync(await file.path(), 'utf8')).toContain('42,Site,url,no site')
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
      await choose('How often', 'Weekdays at 9')
      expect(await page.getByRole('textbox', { name: 'Cron' }).inputValue()).toBe('0 9 * * 1-5')
      await page.getByRole('button', { name: 'Save schedule' }).click()
      await page.getByRole('status', { name: 'Next run' }).getByText('UTC').waitFor()
      await checkAccessibility()
      await page.getByRole('button', { name: 'Remove schedule' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
      await page.getByRole('status', { name: 'Next run' }).getByText('Not scheduled').waitFor()
    })

    it('a webhook is enabled, capped by the day, takes a delivery, and is disabled', async () => {
      const sheet = await makeSheet('Hooked')
      await page.goto(url(`${sheet}/webhook`))
      await page.getByRole('button', { name: 'Enable webhook' }).click()
      const address = await page.getByRole('textbox', { name: 'Address' }).inputValue()
      const sent = await page.request.post(address, { data: { name: 'good' } })
      expect(sent.ok()).toBe(true)
      await page.getByRole('table', { name: 'Deliveries' }).waitFor()
      const cap = page.getByRole('spinbutton', { name: 'Spend at most' })
      const save = page.getByRole('button', { name: 'Save limit' })
      const saved = async () => (await (await page.request.get(url(`/internal${sheet}/webhook`))).json()).data
      await cap.fill('-1')
      await save.click()
      await expect.poll(() => cap.getAttribute('aria-invalid')).toBe('true')
      await cap.fill('12.5')
      await save.click()
      await expect.poll(saved).toMatchObject({ enabled: true, address, max_credits_per_day: 12.5 })
      await expect.poll(() => save.isDisabled()).toBe(true)
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
}
