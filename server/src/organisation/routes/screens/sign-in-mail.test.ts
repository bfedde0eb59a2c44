import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterAll, describe, expect, it } from 'vitest'
import { createMailer } from '#server/lib/mail.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { ask, ORIGIN, signIn } from '../../../api/testing/session.ts'

/** Starts a real mail server that stores received mails and refuses one address. */
const mails: { to: string[]; text: string }[] = []
const smtp = new SMTPServer({
  disabledCommands: ['AUTH', 'STARTTLS'],
  onRcptTo: ({ address }, _session, done) =>
    done(address === 'refused@example.com' ? new Error('no such mailbox') : undefined),
  onData(stream, { envelope }, done) {
    let text = ''
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
    stream.on('end', () => {
      // Mails break long lines; this joins them again.
      mails.push({ to: envelope.rcptTo.map(({ address }) => address), text: text.replaceAll(/=\r?\n/g, '') })
      done()
    })
  },
})
await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
afterAll(() => new Promise<void>((resolve) => smtp.close(resolve)))
const { port } = smtp.server.address() as AddressInfo
const app = await makeApp({
  services: { sendMail: createMailer({ url: `smtp://127.0.0.1:${port}`, from: 'loam@example.com' }) },
})
const org = await app.makeOrg('Acme')
const askFor = (email: string, on = app) =>
  ask(on, { method: 'POST', path: '/sign-in/links' }, { email }, { origin: ORIGIN })

it('a member gets a mail with a link that signs in; an unknown address gets the same answer and no mail', async () => {
  const known = await askFor(org.adminEmail.toUpperCase())
  const unknown = await askFor('nobody@example.com')
  expect(known).toMatchObject({ status: 202, body: { status: 202, data: { email: org.adminEmail } } })
  expect(unknown).toMatchObject({ status: 202, body: { status: 202, data: { email: 'nobody@example.com' } } })
  await expect.poll(() => mails).toHaveLength(1)
  expect(mails[0]).toMatchObject({
    to: [org.adminEmail],
    text: expect.stringContaining('Your sign-in link for Loam'),
  })
  const path = /http:\/\/loam\.test(\/sign-in\/\w+)/.exec(mails[0]?.text ?? '')?.[1] ?? ''
  const signedIn = await ask(app, { method: 'POST', path }, {}, { origin: ORIGIN })
  expect(signedIn.status).toBe(200)
})

it('a member of several organisations gets a link for each', async () => {
  const other = await app.makeOrg('Globex')
  for (const one of [org, other]) await one.keyFor('both@example.com', 'member')
  mails.length = 0
  await askFor('both@example.com')
  await expect.poll(() => mails).toHaveLength(1)
  expect(mails[0]?.text).toMatch(/Sign in to Acme: http[^]*Sign in to Globex: http/)
})

const linkIn = (text: string | undefined, kind: 'sign-in' | 'invitations') =>
  new RegExp(`http://loam\\.test(/${kind}/\\w+)`).exec(text ?? '')?.[1] ?? ''
const organisationsOf = async (cookie: string) =>
  (await ask(app, { method: 'GET', path: '/organisations' }, undefined, { cookie })).body.data
const open = async (path: string) => {
  const answer = await ask(app, { method: 'POST', path }, {}, { origin: ORIGIN })
  expect(answer.status).toBe(200)
  return String(answer.headers['set-cookie']).split(';', 1)[0] ?? ''
}

describe('F60: a mailed link proves the address', () => {
  it('inviters see no link if mail is set up, and accepting by the mailed link proves the address', async () => {
    const admin = await signIn(app, org.orgId, org.adminEmail)
    mails.length = 0
    const invited = await admin.call('POST', '/members', { email: 'invitee@example.com', role: 'member' })
    expect(invited.body.data.email_sent).toBe(true)
    await admin.call('POST', '/members', { email: 'refused@example.com', role: 'member' })
    const roster = (await admin.call('GET', '/members')).body.data
    expect(roster.mail).toBe(true)
    expect(roster.invitations).toMatchObject([
      { email: 'invitee@example.com', email_sent: true, link: null },
      { email: 'refused@example.com', email_sent: false, link: null },
    ])
    // The link stays hidden if the mail server is removed later.
    const plain = await makeApp({ services: { store: app.store } })
    const without = (
      await ask(plain, { method: 'GET', path: '/members' }, undefined, { cookie: admin.cookie })
    ).body.data
    expect(without).toMatchObject({
      mail: false,
      invitations: [{ link: null }, { link: expect.stringContaining('/invitations/') }],
    })
    const cookie = await open(linkIn(mails[0]?.text, 'invitations'))
    expect(await organisationsOf(cookie)).toMatchObject({
      verified: true,
      organisations: [{ status: 'member' }],
    })
    await admin.call('DELETE', '/members/refused%40example.com')
  })

  it('a mailed sign-in link confirms the membership and lets its owner switch organisations; a link created by the operator does not', async () => {
    const third = await app.makeOrg('Initech')
    for (const one of [org, third]) await one.keyFor('owner@example.com', 'member')
    const byOperator = await signIn(app, org.orgId, 'owner@example.com')
    expect(await organisationsOf(byOperator.cookie)).toMatchObject({
      verified: false,
      organisations: [{ org_id: org.orgId, status: 'unconfirmed', current: true }],
    })
    mails.length = 0
    await askFor('owner@example.com')
    await expect.poll(() => mails).toHaveLength(1)
    const listed = await organisationsOf(await open(linkIn(mails[0]?.text, 'sign-in')))
    expect(listed).toMatchObject({
      verified: true,
      organisations: [
        { org_id: org.orgId, status: 'member', current: true },
        { org_id: third.orgId, status: 'unconfirmed', current: false },
      ],
    })
    expect((await byOperator.call('GET', '/session')).status).toBe(401)
  })
})

const hour = () => Math.floor(Date.now() / 3_600_000)

it.each(['member', 'nobody'])('5 per address and hour, for a %s', async (who) => {
  // The test runs again if the hour ended in between.
  for (let began = -1, n = 0; began !== hour(); n += 1) {
    began = hour()
    const email = `${who}${n}@example.com`
    if (who === 'member') await org.keyFor(email, 'member')
    for (let i = 0; i < 5; i++) expect((await askFor(email)).status).toBe(202)
    const refused = await askFor(email)
    if (began !== hour()) continue
    expect([refused.status, refused.body.error]).toEqual([429, 'Too Many Requests'])
    expect(refused.body.retryAfter).toBeGreaterThan(0)
    await app.store.system
      .updateTable('sign_in_windows')
      .set({ hour: new Date(Date.now() - 7_200_000) })
      .execute()
    expect((await askFor(email)).status).toBe(202)
  }
})

it('a mail that cannot be sent does not change the answer', async () => {
  await org.keyFor('refused@example.com', 'member')
  expect((await askFor('refused@example.com')).status).toBe(202)
})

it('without a mail server the error says how an administrator creates a link', async () => {
  const plain = await makeApp({ services: { store: app.store } })
  const answer = await askFor(org.adminEmail, plain)
  expect([answer.status, answer.body.error]).toEqual([409, 'NO_MAIL_SERVER'])
  expect(answer.body.message).toContain(`npx loam sign-in-link --email ${org.adminEmail}`)
  const wrong = await askFor('no address')
  expect([wrong.status, wrong.body.errors[0].field]).toEqual([400, 'email'])
})
