import { describe, expect, it } from 'vitest'
import { LONG, type Tour } from './tour.ts'

/** Tests keys, variables, members, sessions and sharing. */
export function describeSettings({ dashboard, app, org, page, url, h1, choose }: Tour): void {
  const focused = (name: string) =>
    page
      .locator(':focus')
      .and(page.getByRole('button', { name, exact: true }))
      .waitFor()

  describe('settings', LONG, () => {
    it('a key is made, shown once, rotated with an overlap, and revoked; the focus returns', async () => {
      await page.goto(url('/settings/keys'))
      await page.getByRole('button', { name: 'New key' }).click()
      await page.getByRole('combobox', { name: 'Preset' }).click()
      // Escape closes the list but not the dialog around it.
      await page.keyboard.press('Escape')
      await page.getByRole('option', { name: 'Read only' }).waitFor({ state: 'hidden' })
      await choose('Preset', 'Read only')
      await page.getByRole('button', { name: 'Create key' }).click()
      const shown = page.getByRole('dialog', { name: 'Key created' })
      const readKey = async () => {
        const key = await shown.getByRole('textbox', { name: 'Key' }).inputValue()
        await shown.getByRole('button', { name: 'Done' }).click()
        return key
      }
      const key = await readKey()
      await focused('New key')
      const last4 = key.slice(-4)
      await page.getByRole('button', { name: `Rotate key ...${last4}` }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate', exact: true }).click()
      const next = await readKey()
      await focused(`Rotate key ...${last4}`)
      for (const one of [key, next]) expect((await app.call(one, 'GET', '/workflows')).status).toBe(200)
      await page.getByRole('button', { name: `Revoke key ...${last4}` }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click()
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
      expect((await app.call(key, 'GET', '/workflows')).status).toBe(401)
    })

    it('a variable is set, replaced and deleted; its value is never shown', async () => {
      await page.goto(url('/settings/environment'))
      await page.getByRole('button', { name: 'New variable' }).click()
      await page.getByRole('textbox', { name: 'Key' }).fill('TOKEN_A')
      await page.getByRole('textbox', { name: 'Value' }).fill('canary-of-a-value')
      await page.getByRole('button', { name: 'Save', exact: true }).click()
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
      await page.getByRole('button', { name: 'Create invitation' }).click()
      await page.getByRole('button', { name: 'Copy link for new@example.com' }).waitFor()
      const answer = await page.request.get(url('/internal/members'))
      const { link } = (await answer.json()).data.invitations[0]
      const joining = await dashboard.openSignedOut(new URL(link).pathname)
      await joining.getByRole('heading', { level: 1, name: /^Join / }).waitFor()
      await joining.getByRole('button', { name: 'Accept the invitation' }).click()
      await joining.getByRole('navigation', { name: 'Main' }).waitFor()
      // The change of another person is visible without a reload.
      await page.getByRole('button', { name: 'Remove new@example.com' }).click()
      const dialog = page.getByRole('dialog', { name: 'Remove new@example.com' })
      await dialog.getByRole('list', { name: 'Impact' }).waitFor()
      await dialog.getByRole('button', { name: 'Remove', exact: true }).click()
      await dialog.waitFor({ state: 'hidden' })
      await joining.goto(url('/workflows'))
      await h1('Sign in', joining).waitFor()
      await joining.context().close()
    })

    it('an address that is invited already is refused at its field; the last administrator stays one', async () => {
      await page.goto(url('/settings/members'))
      const { adminEmail } = org
      await page.getByRole('button', { name: 'Invite' }).click()
      const email = page.getByRole('textbox', { name: 'Email' })
      await email.fill(adminEmail)
      await page.getByRole('button', { name: 'Create invitation' }).click()
      await expect.poll(() => email.getAttribute('aria-invalid')).toBe('true')
      await page.getByRole('button', { name: 'Cancel' }).click()
      await choose(`Role of ${adminEmail}`, 'user')
      const toasts = page.getByRole('region', { name: 'Notifications' })
      await toasts.getByRole('alert').waitFor()
      const role = page.getByRole('combobox', { name: `Role of ${adminEmail}` })
      await expect.poll(() => role.inputValue()).toBe('admin')
      await toasts.getByRole('button', { name: 'Dismiss' }).first().click()
    })

    it('other sessions are revoked, and are signed out at once', async () => {
      const elsewhere = await dashboard.open(org, '/settings/sessions')
      await elsewhere.getByText('This session').waitFor()
      await page.goto(url('/settings/sessions'))
      await page
        .getByRole('button', { name: /^Revoke session / })
        .first()
        .waitFor()
      await page.getByRole('button', { name: 'Revoke all others' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click()
      await page.getByRole('button', { name: /^Revoke session / }).waitFor({ state: 'hidden' })
      await h1('Sign in', elsewhere).waitFor()
      await elsewhere.context().close()
    })
  })

  describe('sharing', LONG, () => {
    it('a workflow is shared with a member, who sees it, and is not any more', async () => {
      await org.call('POST', '/workflows', { name: 'Ours' })
      const mate = await dashboard.open(org, '/workflows', { email: 'mate@example.com', role: 'member' })
      const seen = mate.getByRole('table', { name: 'Workflows' }).getByRole('link', { name: 'Ours' })
      await mate.getByText('No workflows yet').waitFor()
      await page.goto(url('/workflows'))
      await page.getByRole('button', { name: 'Actions for Ours' }).click()
      await page.getByRole('menuitem', { name: 'Share' }).click()
      const dialog = page.getByRole('dialog', { name: 'Share Ours' })
      const email = dialog.getByRole('combobox', { name: 'Email' })
      await email.fill('nobody@example.com')
      await dialog.getByRole('button', { name: 'Share', exact: true }).click()
      await expect.poll(() => email.getAttribute('aria-invalid')).toBe('true')
      await email.fill('')
      await choose('Email', 'mate@example.com')
      await dialog.getByRole('button', { name: 'Share', exact: true }).click()
      await dialog
        .getByRole('list', { name: 'Shared with' })
        .getByText('mate@example.com', { exact: true })
        .waitFor()
      await seen.waitFor()
      await dialog.getByRole('button', { name: 'Stop sharing with mate@example.com' }).click()
      await seen.waitFor({ state: 'detached' })
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      await focused('Actions for Ours')
      await mate.context().close()
    })
  })
}
