import { describe, expect, it } from 'vitest'
import { LONG, type Tour } from './tour.ts'

/** Tests what surrounds the sheet: the list of workflows, the toolbar, the audit log, addresses that lead nowhere. */
export function describeAround({ org, page, url, h1, makeSheet }: Tour): void {
  describe('around the sheet', LONG, () => {
    it('H16: the list shows what was changed lately, runs or failed, and offers every way to start', async () => {
      const sheet = await makeSheet('Around')
      await org.call('POST', `${sheet}/run-all`)
      await page.goto(url(`${sheet}/runs`))
      await page.getByRole('cell', { name: '2 of 2' }).waitFor()
      await page.goto(url('/workflows'))
      for (const name of [
        'New workflow',
        'Open the demo workflow',
        'Start from a file',
        'Start from a source',
      ])
        await page.getByRole('button', { name, exact: true }).waitFor()
      const views = page.getByRole('group', { name: 'Show', exact: true })
      await views.getByRole('button', { name: /^Failed/ }).click()
      await page.getByRole('table', { name: 'Workflows' }).getByRole('link', { name: 'Around' }).waitFor()
      await page.getByRole('searchbox', { name: 'Search workflows' }).fill('no such name')
      await page.getByRole('button', { name: 'Clear search' }).click()
      expect(await views.getByRole('button', { name: /^All/ }).getAttribute('aria-pressed')).toBe('true')
    })

    it('H17: the toolbar is one line at 1280, selecting moves no row, the font is our own', async () => {
      await page.goto(url(await makeSheet('Toolbar')))
      await page.setViewportSize({ width: 1280, height: 720 })
      const grid = page.getByRole('grid', { name: 'Rows' })
      await grid.getByRole('gridcell', { name: 'good' }).waitFor()
      const toolbar = await page.getByRole('toolbar', { name: 'Sheet' }).boundingBox()
      expect(toolbar?.height).toBeLessThan(48)
      const before = await grid.boundingBox()
      await page.getByRole('checkbox', { name: 'Select row 1', exact: true }).check()
      await page.getByRole('toolbar', { name: 'Selected rows' }).waitFor()
      expect(await grid.boundingBox()).toEqual(before)
      expect(await page.evaluate(`document.fonts.ready.then(() => document.fonts.check('13px Inter'))`)).toBe(
        true,
      )
      for (const width of [1440, 1024, 390]) {
        await page.setViewportSize({ width, height: 844 })
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), `${width}`).toBe(0)
      }
      await page.setViewportSize({ width: 1440, height: 900 })
    })

    it('H17: the audit log says who did what, with a link, and ids only in its details', async () => {
      await page.goto(url('/settings/audit'))
      const entry = page
        .getByRole('row')
        .filter({ hasText: `${org.adminEmail} created the workflow Toolbar` })
      await entry.first().waitFor()
      expect(await entry.first().getByText('workflow.created').isVisible()).toBe(false)
      await entry.first().getByText('Details').click()
      await entry.first().getByText('workflow.created').waitFor()
      await entry.first().getByRole('link', { name: 'Toolbar' }).click()
      await h1('Toolbar').waitFor()
    })

    it('H17: an unknown address is a page that leads back, and the first link skips the navigation', async () => {
      await page.goto(url('/nope'))
      await page.getByRole('heading', { name: 'This page does not exist' }).waitFor()
      await page.getByRole('link', { name: 'Go to the start page' }).click()
      await h1('Workflows').waitFor()
      await page.goto(url('/workflows'))
      await h1('Workflows').waitFor()
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      expect(await page.evaluate('document.activeElement.localName')).toBe('main')
    })
  })
}
