import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterAll, expect, it } from 'vitest'
import { createMailer } from '#server/lib/mail.ts'
import { makeApp } from '#test/harness.ts'
import { ask, ORIGIN } from '../testing/session.ts'

/** A real mail server that keeps what it is given, and refuses one address. */
const mails: { to: string[]; text: string }[] = []
const smtp = new SMTPServer({
  disabledCommands: ['AUTH', 'STARTTLS'],
  onRcptTo: ({ address }, _session, done) =>
    done(address === 'refused@example.com' ? new Error('no such mailbox') : undefined),
  onData(stream, { envelope }, done) {
    let text = ''
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
    stream.on('end', () => {
      // Long lines are broken for the way.
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
const askFor = (email: string, on = app) => ask(on, 'POST', '/sign-in/links', { email }, { origin: ORIGIN })

it('a member is mailed a link that signs in; an unknown address is answered the same, and nothing is sent', async () => {
  const known = await askFor(org.adminEmail.toUpperCase())
  const unknown = await askFor('nobody@example.com')
  expect(known).toMatchObject({ status: 202, body: { status: 202, data: { email: org.adminEmail } } })
  expect(unknown).toMatchObject({ status: 202, body: { status: 202, data: { email: 'nobody@example.com' } } })
  await expect.poll(() => mails).toHaveLength(1)
  expect(mails[0]).toMatchObject({
    to: [org.adminEmail],
    text: expect.stringContaining('Your link to sign in to Loam'),
  })
  const path = /http:\/\/loam\.test(\/sign-in\/\w+)/.exec(mails[0]?.text ?? '')?.[1] ?? ''
  const signedIn = await ask(app, 'POST', path, {}, { origin: ORIGIN })
  expect(signedIn.status).toBe(200)
})

it('who belongs to several organisations gets a link for each', async () => {
  const other = await app.makeOrg('Globex')
  for (const one of [org, other]) await one.keyFor('both@example.com', 'member')
  mails.length = 0
  await askFor('both@example.com')
  await expect.poll(() => mails).toHaveLength(1)
  expect(mails[0]?.text).toMatch(/Sign in to Acme: http[^]*Sign in to Globex: http/)
})

const hour = () => Math.floor(Date.now() / 3_600_000)

it.each(['member', 'nobody'])('5 per address and hour, for a %s', async (who) => {
  // Once more where the hour ended in between.
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

it('a mail that cannot be sent changes nothing of the answer', async () => {
  await org.keyFor('refused@example.com', 'member')
  expect((await askFor('refused@example.com')).status).toBe(202)
})

it('without a mail server it says how an administrator makes a link', async () => {
  const plain = await makeApp({ services: { store: app.store } })
  const answer = await askFor(org.adminEmail, plain)
  expect([answer.status, answer.body.error]).toEqual([409, 'NO_MAIL_SERVER'])
  expect(answer.body.message).toContain(`npx loam sign-in-link --email ${org.adminEmail}`)
  const wrong = await askFor('no address')
  expect([wrong.status, wrong.body.errors[0].field]).toEqual([400, 'email'])
})
