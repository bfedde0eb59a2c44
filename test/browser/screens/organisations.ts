import { describe, expect, it } from 'vitest'
import { addMember } from '#server/organisation/members.ts'
import { IDENTITY_COOKIE, sealIdentity } from '#server/organisation/routes/screens/sign-in-choices.ts'
import { createSignInLink } from '#server/organisation/sign-in.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { axeFindings } from '../dashboard.ts'
import { LONG, type Tour } from './tour.ts'

const EMAIL = 'both@example.com'

/** Tests choosing an organisation after single sign-on and switching between organisations (F60). */
export function describeOrganisations({ dashboard, app, org, url, h1 }: Tour): void {
  const system = app.store.system

  /** Adds a person with a confirmed membership here, and an unconfirmed one and an invitation elsewhere. */
  async function makePerson() {
    const [other, third] = [await app.makeOrg('Globex'), await app.makeOrg('Initech')]
    const member = await addMember(system, OPERATOR, org.orgId, {
      invite: { email: EMAIL, role: 'member' },
      memberLimit: null,
    })
    await addMember(system, OPERATOR, other.orgId, {
      invite: { email: EMAIL, role: 'user' },
      memberLimit: null,
    })
    await third.call('POST', '/org/members', { email: EMAIL, role: 'admin' })
    return member
  }

  describe('organisations', LONG, () => {
    it('F60: are chosen after single sign-on, and changed by the account menu', async () => {
      const member = await makePerson()
      const target = { orgId: org.orgId, member, publicUrl: dashboard.url, isMailed: true }
      const link = await createSignInLink(system, OPERATOR, target)
      const page = await dashboard.openSignedOut(new URL(link.url).pathname)
      await page.getByRole('button', { name: `Sign in as ${EMAIL}` }).click()
      await h1('Workflows', page).waitFor()
      await page.getByRole('button', { name: 'Account' }).click()
      await page.getByText('Switch organisation').waitFor()
      expect(await axeFindings(page)).toEqual([])
      await page.getByRole('menuitem', { name: 'Initech' }).click()
      const dialog = page.getByRole('dialog', { name: 'Join Initech' })
      await dialog.getByText('Invitation as admin from ').waitFor()
      await dialog.getByRole('button', { name: 'Join' }).click()
      await page.waitForURL('**/workflows')
      await page.getByRole('button', { name: 'Account' }).click()
      await page.getByRole('menu').getByText('Initech').waitFor()

      const proved = { email: EMAIL, firstName: null, lastName: null, next: undefined }
      const value = sealIdentity(app.services.sealer, proved)
      const path = '/internal/sign-in/organisations'
      await page.context().clearCookies()
      await page
        .context()
        .addCookies([{ name: IDENTITY_COOKIE, value, domain: new URL(dashboard.url).hostname, path }])
      await page.goto(url('/sign-in/organisations'))
      await h1('Choose an organisation', page).waitFor()
      const list = page.getByRole('list', { name: 'Organisations' })
      await expect.poll(() => list.getByRole('listitem').count()).toBe(3)
      expect(await axeFindings(page)).toEqual([])
      await list.getByRole('button', { name: 'Open Initech' }).waitFor()
      await list.getByRole('button', { name: 'Confirm and open Globex' }).click()
      await h1('Shortcuts', page).waitFor()

      await page.goto(url('/sign-in/organisations'))
      await page.getByRole('alert').getByText('Signing in took too long').waitFor()
      await page.getByRole('link', { name: 'Sign in again' }).waitFor()
      await page.context().close()
    })
  })
}
