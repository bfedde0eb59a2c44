import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { axeFindings, startDashboard } from '../dashboard.ts'

/** The timeout of tests that open several pages, on machines that may be slow and busy. */
export const LONG = { timeout: 300_000 }

const DESK = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 844 }

export type Tour = Awaited<ReturnType<typeof startTour>>

/** Opens the page that the tests of the screens share, with their helper functions. */
export async function startTour() {
  const dashboard = await startDashboard()
  const { app } = dashboard
  const org = await app.makeOrg()
  const page = await dashboard.open(org, '/workflows')
  return {
    dashboard,
    app,
    org,
    page,
    url: (path: string) => `${dashboard.url}${path}`,

    h1: (name: string, on: Page = page) =>
      on.getByRole('main').getByRole('heading', { level: 1, name, exact: true }),

    /** Checks that axe finds no serious problem: on a desktop in light mode, and on a phone in dark mode. */
    checkAccessibility: async (): Promise<void> => {
      for (const [colorScheme, size] of [
        ['light', DESK],
        ['dark', PHONE],
      ] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        await page.setViewportSize(size)
        expect(await axeFindings(page), `${page.url()} in ${colorScheme}`).toEqual([])
      }
      await page.setViewportSize(DESK)
    },

    choose: async (field: string, option: string): Promise<void> => {
      await page.getByRole('combobox', { name: field, exact: true }).click()
      await page.getByRole('option', { name: option }).click()
    },

    /** Makes a sheet with a formula that fails on one of its two rows, and returns its address. */
    makeSheet: async (name: string): Promise<string> => {
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
    },
  }
}
