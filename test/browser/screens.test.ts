import type { Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { problems } from './dashboard.ts'
import { describeAround } from './screens/around.ts'
import { describeScreensOfASheet } from './screens/of-a-sheet.ts'
import { describeOrganisations } from './screens/organisations.ts'
import { describeSettings } from './screens/settings.ts'
import { describeSourcesAndSegments } from './screens/sources-and-segments.ts'
import { LONG, startTour } from './screens/tour.ts'
import { describeWrittenText } from './screens/written-text.ts'

const tour = await startTour()
const { org, page, url, h1, checkAccessibility } = tour

afterEach(() => {
  expect(problems.splice(0), 'scripts that threw, what the policy refused, requests to other hosts').toEqual(
    [],
  )
})

/** The screens: address, heading, and a function that waits until the screen is ready. */
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

describeSettings(tour)
describeOrganisations(tour)
describeSourcesAndSegments(tour)
describeScreensOfASheet(tour)
describeAround(tour)
describeWrittenText(tour)

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

describe('a server that fails', LONG, () => {
  it('is said by each screen with the reason, the request and a way to try again', async () => {
    const broken = {
      status: 500,
      headers: { 'x-request-id': 'request-7' },
      json: { status: 500, error: 'Internal Server Error', message: 'It broke' },
    }
    const tab = await page.context().newPage()
    const isData = (address: URL) =>
      address.pathname.startsWith('/internal/') && address.pathname !== '/internal/session'
    // These screens show errors in their own way; the others are built like the sources screen.
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
      await alert.first().getByText('Request request-7').waitFor()
      await alert.first().getByRole('button', { name: 'Retry' }).waitFor()
      await h1(heading, tab).waitFor()
      await tab.unroute(isData)
      // Parts of a screen fail separately, and each has its own button.
      await expect
        .poll(async () => {
          await tab.evaluate(
            `for (const one of document.querySelectorAll('main [role=alert] button')) one.click()`,
          )
          return alert.count()
        })
        .toBe(0)
    }
    await tab.route(isData, (route) => route.abort())
    await tab.goto(url('/sources'))
    const away = tab.getByRole('main').getByRole('alert').filter({ hasText: 'The server cannot be reached' })
    await away.getByRole('button', { name: 'Retry' }).waitFor()
    await tab.unroute(isData)
    await tab.route(isData, (route) => route.fulfill({ status: 403, json: { message: 'No' } }))
    await tab.goto(url('/sources'))
    await h1('Not allowed', tab).waitFor()
    await tab.close()
  })
})
