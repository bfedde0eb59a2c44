import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { axeFindings, startDashboard } from '../dashboard.ts'

/** Each test goes through several pages, on machines that may be slow and busy. */
export const LONG = { timeout: 300_000 }

const DESK = { width: 1440, height: 900 }
const PHONE = { width: 390, height: 844 }

export type Tour = Awaited<ReturnType<typeof startTour>>

/** One page that goes from screen to screen, and what tests of them share. */
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

    /** Nothing serious or critical on what is shown: at a desk in the light, on a phone in the dark. */
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

    /** A sheet with a formula that fails on one of its two rows; answers its address. */
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
