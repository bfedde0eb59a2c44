import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { openBrowser, type Visitor } from '#test/browser.ts'
import { serveHttp } from '#test/loopback-server.ts'

const { visit, linkFor, openContext, app } = await openBrowser()
const visitor = await visit()
const { page, url, org } = visitor

const h1 = (name: string, on: Page = page) =>
  on.getByRole('main').getByRole('heading', { level: 1, name, exact: true })

/** Nothing serious or critical on what is shown, in both themes. */
async function checkAccessibility(on: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await on.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    // Into the page as a debugger does it: the content security policy lets no script of ours in.
    await on.evaluate(axe.source)
    const found = await on.evaluate(async () => {
      const { violations } = await (globalThis as unknown as { axe: typeof axe }).axe.run({
        resultTypes: ['violations'],
      })
      return violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
    })
    expect(found, `${on.url()} in ${colorScheme}`).toEqual([])
  }
}

describe('signing in', () => {
  it('a link is used once by its button, and never by being read', async () => {
    const link = await linkFor(org)
    const context = await openContext()
    const [first, second] = [await context.newPage(), await context.newPage()]
    await first.goto(link)
    await second.goto(link)
    await first.getByRole('button', { name: `Sign in as ${org.adminEmail}` }).click()
    await first.waitForURL('**/workflows')
    await second.getByRole('button', { name: `Sign in as ${org.adminEmail}` }).click()
    await second.getByRole('alert').filter({ hasText: 'used or has expired' }).waitFor()
    await context.close()
  })

  it('whoever is not signed in comes back to the address that was asked for', async () => {
    const context = await openContext()
    const guest = await context.newPage()
    await guest.goto(url('/settings/sessions'))
    await h1('Sign in', guest).waitFor()
    await guest.goto(await linkFor(org))
    await guest.getByRole('button', { name: /^Sign in as / }).click()
    await h1('Sessions', guest).waitFor()
    await context.close()
  })
})

/** Address, the one heading, and something that is there when the screen is. */
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

describe('each screen has its heading, its title, and nothing that axe finds serious', () => {
  it.each(SCREENS)('%s', async (path, heading, isThere) => {
    await page.goto(url(path))
    await h1(heading).waitFor()
    await isThere(page)
    expect(await page.title()).toBe(`${heading} · Loam`)
    expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
    await checkAccessibility(page)
  })
})

describe('roles: what the scopes lack is not shown, and its address says Not allowed', () => {
  it('user', async () => {
    const user = await visit({ org, email: 'user@example.com', role: 'user' })
    await h1('Shortcuts', user.page).waitFor()
    const links = await user.page.getByRole('navigation', { name: 'Main' }).getByRole('link').allInnerTexts()
    expect(links).toEqual(['Sources', 'Shortcuts', 'Settings'])
    for (const path of ['/workflows', '/usage', '/settings/members']) {
      await user.page.goto(url(path))
      await h1('Not allowed', user.page).waitFor()
    }
    await user.context.close()
  })
})

describe('what is absent and what is somebody else’s look alike', () => {
  it('Not found', async () => {
    const strangers = await app.makeOrg()
    const made = await strangers.call('POST', '/workflows', { name: 'Secret plans' })
    for (const path of [
      `/workflows/${made.body.data.workflow_id}`,
      '/shortcuts/00000000-0000-7000-8000-000000000000',
    ]) {
      await page.goto(url(path))
      await h1('Not found').waitFor()
      expect(await page.content()).not.toContain('Secret plans')
    }
  })
})

describe('settings', () => {
  it('a key is made, shown once, and revoked', async () => {
    await page.goto(url('/settings/keys'))
    await page.getByRole('button', { name: 'New key' }).click()
    await choose(visitor, 'Preset', 'Read only')
    await page.getByRole('button', { name: 'Create key' }).click()
    const shown = page.getByRole('dialog', { name: 'Key created' })
    const key = await shown.getByRole('textbox', { name: 'Key' }).inputValue()
    const answer = await app.call(key, 'GET', '/workflows')
    expect(answer.status).toBe(200)
    await shown.getByRole('button', { name: 'Done' }).click()
    const last4 = key.slice(-4)
    await page.getByRole('button', { name: `Revoke key ...${last4}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    expect((await app.call(key, 'GET', '/workflows')).status).toBe(401)
  })

  it('a variable is set, replaced and deleted; its value is never shown', async () => {
    await page.goto(url('/settings/environment'))
    await page.getByRole('button', { name: 'New variable' }).click()
    await page.getByRole('textbox', { name: 'Key' }).fill('TOKEN_A')
    await page.getByLabel('Value').fill('canary-of-a-value')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Replace TOKEN_A' }).waitFor()
    expect(await page.content()).not.toContain('canary-of-a-value')
    await page.getByRole('button', { name: 'Delete TOKEN_A' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('button', { name: 'Delete TOKEN_A' }).waitFor({ state: 'hidden' })
  })

  it('a person is invited, joins by the page, and is removed with the impact shown', async () => {
    await page.goto(url('/settings/members'))
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByRole('textbox', { name: 'Email' }).fill('new@example.com')
    await page.getByRole('button', { name: 'Send invitation' }).click()
    await page.getByRole('button', { name: 'Copy link for new@example.com' }).waitFor()
    const answer = await page.request.get(url('/internal/members'))
    const { link } = (await answer.json()).data.invitations[0]
    const context = await openContext()
    const joining = await context.newPage()
    await joining.goto(link)
    await joining.getByRole('heading', { level: 1, name: /^Join / }).waitFor()
    await joining.getByRole('button', { name: 'Accept the invitation' }).click()
    await joining.getByRole('navigation', { name: 'Main' }).waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Remove new@example.com' }).click()
    const dialog = page.getByRole('dialog', { name: 'Remove new@example.com' })
    await dialog.getByRole('list', { name: 'Impact' }).waitFor()
    await dialog.getByRole('button', { name: 'Remove', exact: true }).click()
    await dialog.waitFor({ state: 'hidden' })
    await joining.goto(url('/workflows'))
    await h1('Sign in', joining).waitFor()
    await context.close()
  })
})

describe('sources', () => {
  it('a source is made from the fields of its type, synced into a workflow, paused and resumed', async () => {
    const made = await org.call('POST', '/workflows', { name: 'Visitors' })
    const id: string = made.body.data.workflow_id
    await org.call('POST', `/workflows/${id}/sheets/${id}/inputs`, [{ name: 'site', type: 'string' }])
    await page.goto(url('/sources'))
    await page.getByRole('button', { name: 'New source' }).click()
    const dialog = page.getByRole('dialog', { name: 'New source' })
    await choose(visitor, 'Type', 'Track companies that visit a website')
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
    await page.getByRole('textbox', { name: 'Script for the pages' }).waitFor()
    await checkAccessibility(page)

    await page.getByRole('button', { name: 'Sync to a workflow' }).click()
    await choose(visitor, 'Workflow', 'Visitors')
    await choose(visitor, 'Field for site', 'domain')
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
    await choose(visitor, 'Type', 'Import from an API')
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Companies')
    await dialog.getByRole('textbox', { name: 'url' }).fill(`${origin}/items`)
    await dialog.getByRole('textbox', { name: 'key_path' }).fill('id')
    const query = dialog.getByRole('textbox', { name: 'query' })
    await query.fill('no JSON')
    await dialog.getByRole('button', { name: 'Preview' }).click()
    await dialog.getByText('must be JSON').waitFor()
    await query.fill('{"since": "2026"}')
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

async function choose({ page: on }: Visitor, field: string, option: string): Promise<void> {
  await on.getByRole('combobox', { name: field, exact: true }).click()
  await on.getByRole('option', { name: option }).click()
}
