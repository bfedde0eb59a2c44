import type { AddressInfo } from 'node:net'
import { sql } from 'kysely'
import { SMTPServer } from 'smtp-server'
import { afterAll, describe, expect, it } from 'vitest'
import { createMailer } from '#server/lib/mail.ts'
import { acceptInvitation, pendingInvitations } from '#server/organisation/members.ts'
import { makeApp, type TestApp } from '#test/plumbing/harness.ts'

const app = await makeApp()

/** Starts a real mail server that stores received mails and refuses one address. */
const received: { to: string[]; text: string }[] = []
const smtp = new SMTPServer({
  disabledCommands: ['AUTH', 'STARTTLS'],
  onRcptTo: ({ address }, _session, done) =>
    done(address === 'refused@example.com' ? new Error('no such mailbox') : undefined),
  onData(stream, session, done) {
    let text = ''
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
    stream.on('end', () => {
      received.push({ to: session.envelope.rcptTo.map((entry) => entry.address), text })
      done()
    })
  },
})
await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
afterAll(() => new Promise<void>((resolve) => smtp.close(resolve)))
const port = (smtp.server.address() as AddressInfo).port
const mailing = await makeApp({
  services: { sendMail: createMailer({ url: `smtp://127.0.0.1:${port}`, from: 'loam@example.com' }) },
})

const token = (link: string) => link.slice(link.lastIndexOf('/') + 1)
async function linkFor(on: TestApp, orgId: string, email: string): Promise<string> {
  const pending = await pendingInvitations(on.store.system, orgId, on.services.sealer, 'http://loam.test')
  return pending.find((invitation) => invitation.email === email)?.link ?? ''
}

describe('4.1 Add Member', () => {
  it('201 with the invitation; the address is lowercased', async () => {
    const org = await app.makeOrg()
    const { status, body } = await org.call('POST', '/org/members', {
      email: ' New.One@Example.COM ',
      role: 'member',
    })
    expect(status).toBe(201)
    expect(body).toEqual({
      status: 201,
      data: { email: 'new.one@example.com', role: 'member', status: 'pending', email_sent: false },
    })
  })

  it('the invitation goes out by e-mail, with a link that can be accepted', async () => {
    const org = await mailing.makeOrg('Böhm & Söhne')
    const { body } = await org.call('POST', '/org/members', { email: 'mailed@example.com', role: 'admin' })
    expect(body.data.email_sent).toBe(true)
    const mail = received.find((candidate) => candidate.to.includes('mailed@example.com'))
    const link =
      /http:\/\/loam\.test\/invitations\/\w{32}/.exec(mail?.text.replaceAll('=\r\n', '') ?? '')?.[0] ?? ''
    const page = await mailing.api.inject(link.replace('http://loam.test', ''))
    expect(page.body).toContain('Böhm &amp; Söhne')
    expect((await org.call('GET', '/user')).body.data.org_members.count).toBe(1)
    const accepted = await mailing.api.inject({ method: 'POST', url: link.replace('http://loam.test', '') })
    expect(accepted.statusCode).toBe(200)
    expect((await org.call('GET', '/user')).body.data.org_members.emails).toContain('mailed@example.com')
    expect(
      (await mailing.api.inject({ method: 'POST', url: link.replace('http://loam.test', '') })).statusCode,
    ).toBe(404)
  })

  it('F11: invitations count as mails of the organisation; beyond the limit only the link remains', async () => {
    const org = await mailing.makeOrg()
    const invite = { email: 'victim@example.com', role: 'member' }
    expect((await org.call('POST', '/org/members', invite)).body.data.email_sent).toBe(true)
    const used = await sql`select used from mail_windows where org_id = ${org.orgId}`.execute(
      mailing.store.system,
    )
    expect(used.rows).toEqual([{ used: 1 }])
    await org.call('DELETE', '/org/members?email=victim@example.com')
    const { store, services } = mailing
    const full = await makeApp({
      settings: { LOAM_MAIL_PER_HOUR: '0' },
      services: { store, sendMail: services.sendMail },
    })
    const again = await full.call(org.key, 'POST', '/org/members', invite)
    expect(again.body.data).toMatchObject({ status: 'pending', email_sent: false })
    expect(received.filter(({ to }) => to.includes(invite.email))).toHaveLength(1)
    expect(await linkFor(mailing, org.orgId, invite.email)).toContain('/invitations/')
  })

  it('the invitation is recorded whether or not the mail is sent, and takes a seat', async () => {
    const org = await mailing.makeOrg()
    const invite = () => org.call('POST', '/org/members', { email: 'refused@example.com', role: 'member' })
    const first = await invite()
    expect([first.status, first.body.data.email_sent]).toEqual([201, false])
    const again = await invite()
    expect([again.status, again.body.error]).toEqual([409, 'ALREADY_INVITED'])
    await org.call('DELETE', '/org/members?email=refused%40example.com')
    expect((await invite()).status).toBe(201)
  })

  it('an existing member is 409', async () => {
    const org = await app.makeOrg()
    const { status, body } = await org.call('POST', '/org/members', { email: org.adminEmail, role: 'member' })
    expect([status, body.error]).toEqual([409, 'ALREADY_MEMBER'])
  })

  it.each([
    [{ email: 'a@example.com', role: 'user' }, 'role'],
    [{ email: 'a@example.com' }, 'role'],
    [{ role: 'admin' }, 'email'],
    [{ email: 'a@', role: 'admin' }, 'email'],
    [{ email: '', role: 'admin' }, 'email'],
    [{ email: `${'a'.repeat(250)}@example.com`, role: 'admin' }, 'email'],
    [{ email: ['a@example.com'], role: 'admin' }, 'email'],
  ])('400: %j', async (body, field) => {
    const org = await app.makeOrg()
    const answer = await org.call('POST', '/org/members', body)
    expect([answer.status, answer.body.errors?.[0].field]).toEqual([400, field])
  })

  it('a pending invitation reserves a seat against the member limit', async () => {
    const small = await makeAppWithLimit('2')
    const org = await small.makeOrg()
    const invite = (email: string) => org.call('POST', '/org/members', { email, role: 'member' })
    expect((await invite('second@example.com')).status).toBe(201)
    const third = await invite('third@example.com')
    expect([third.status, third.body.error]).toEqual([409, 'MEMBER_LIMIT_REACHED'])
    await org.call('DELETE', '/org/members?email=second@example.com')
    expect((await invite('third@example.com')).status).toBe(201)
  })

  it('the limit holds when many invite at once', async () => {
    const small = await makeAppWithLimit('4')
    const org = await small.makeOrg()
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        org.call('POST', '/org/members', { email: `m${n}@example.com`, role: 'member' }),
      ),
    )
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(3)
  })

  it('an invitation can be accepted for 14 days; then its seat is free and the address can be invited again', async () => {
    const small = await makeAppWithLimit('2')
    const org = await small.makeOrg()
    const invite = (email: string) => org.call('POST', '/org/members', { email, role: 'member' })
    await invite('late@example.com')
    const link = await linkFor(small, org.orgId, 'late@example.com')
    const age = (days: number) =>
      small.store.query({
        text: `update invitations set created_at = now() - make_interval(days => $1, secs => 10) where org_id = $2`,
        values: [days, org.orgId],
      })
    const look = async () => (await small.api.inject({ url: new URL(link).pathname })).statusCode
    await age(13)
    expect(await look()).toBe(200)
    await age(14)
    expect(await look()).toBe(404)
    const names = { first_name: null, last_name: null }
    await expect(acceptInvitation(small.store.system, token(link), names)).rejects.toThrow('not found')
    expect((await invite('late@example.com')).status).toBe(201)
    await age(14)
    expect((await invite('other@example.com')).status).toBe(201)
  })

  it('one address may belong to several organisations', async () => {
    const [one, two] = [await app.makeOrg(), await app.makeOrg()]
    for (const org of [one, two]) {
      expect(
        (await org.call('POST', '/org/members', { email: 'both@example.com', role: 'member' })).status,
      ).toBe(201)
    }
  })
})

const makeAppWithLimit = (limit: string) => makeApp({ settings: { LOAM_MEMBER_LIMIT: limit } })

describe('4.1 Remove Member', () => {
  it('removes a member: the keys are revoked and the member is deleted', async () => {
    const org = await app.makeOrg()
    const key = await org.keyFor('leaver@example.com', 'member')
    const { status, body } = await org.call('DELETE', '/org/members?email=Leaver%40Example.com')
    expect(status).toBe(200)
    expect(body).toEqual({
      status: 200,
      data: { email: 'leaver@example.com', removed: 'member', warnings: [] },
    })
    expect((await app.call(key, 'GET', '/user')).status).toBe(401)
    expect((await org.call('GET', '/user')).body.data.org_members.count).toBe(1)
  })

  it('a removed member who comes back does not get the old keys back', async () => {
    const org = await app.makeOrg()
    const key = await org.keyFor('again@example.com', 'member')
    await org.call('DELETE', '/org/members?email=again@example.com')
    await org.keyFor('again@example.com', 'member')
    expect((await app.call(key, 'GET', '/user')).status).toBe(401)
  })

  it('an address that is only invited: the invitation is revoked', async () => {
    const org = await app.makeOrg()
    await org.call('POST', '/org/members', { email: 'pending@example.com', role: 'member' })
    const link = await linkFor(app, org.orgId, 'pending@example.com')
    const { body } = await org.call('DELETE', '/org/members?email=pending@example.com')
    expect(body.data).toEqual({ email: 'pending@example.com', removed: 'invitation', warnings: [] })
    const names = { first_name: null, last_name: null }
    await expect(acceptInvitation(app.store.system, token(link), names)).rejects.toThrow(
      'Invitation not found',
    )
  })

  it.each([
    ['/org/members', 400, [{ field: 'email', message: 'required' }]],
    ['/org/members?email=', 400, [{ field: 'email', message: 'must not be empty' }]],
    ['/org/members?email=%20', 400, [{ field: 'email', message: 'must not be empty' }]],
    ['/org/members?email=a@x.io&email=b@x.io', 400, [{ field: 'email', message: 'must be a string' }]],
    ['/org/members?email=unknown@example.com', 404, undefined],
    ['/org/members?email=%25', 404, undefined],
  ])('%s is %i', async (path, status, errors) => {
    const org = await app.makeOrg()
    const answer = await org.call('DELETE', path)
    expect([answer.status, answer.body.errors]).toEqual([status, errors])
  })

  it('a caller cannot remove themself', async () => {
    const org = await app.makeOrg()
    const answer = await org.call('DELETE', `/org/members?email=${org.adminEmail}`)
    expect([answer.status, answer.body.errors[0].field]).toEqual([400, 'email'])
    const other = await org.keyFor('other.admin@example.com', 'admin')
    expect((await app.call(other, 'DELETE', `/org/members?email=${org.adminEmail}`)).status).toBe(200)
    expect((await org.call('GET', '/user')).status).toBe(401)
  })

  it('a member of another organisation is 404', async () => {
    const [org, other] = [await app.makeOrg(), await app.makeOrg()]
    expect((await org.call('DELETE', `/org/members?email=${other.adminEmail}`)).status).toBe(404)
    expect((await other.call('GET', '/user')).status).toBe(200)
  })
})

it('acceptance gives the invited role and names, once', async () => {
  const org = await app.makeOrg()
  await org.call('POST', '/org/members', { email: 'joiner@example.com', role: 'admin' })
  const link = await linkFor(app, org.orgId, 'joiner@example.com')
  const joined = await acceptInvitation(app.store.system, token(link), { first_name: 'Jo', last_name: null })
  expect(joined).toMatchObject({
    org_id: org.orgId,
    email: 'joiner@example.com',
    role: 'admin',
    isConfirmed: false,
  })
  const key = await org.keyFor('joiner@example.com', 'admin')
  const user = (await app.call(key, 'GET', '/user')).body.data
  expect([user.first_name, user.last_name, user.role]).toEqual(['Jo', null, 'admin'])
})

it('every change writes an audit entry with its author', async () => {
  const org = await app.makeOrg()
  await org.call('POST', '/org/members', { email: 'audited@example.com', role: 'member' })
  await org.call('DELETE', '/org/members?email=audited@example.com')
  await org.call('PUT', '/user/knowledge', { content: 'k' })
  const entries = await app.store
    .org(org.orgId)
    .selectFrom('audit_entries')
    .select(['actor', 'action', 'target', 'key_id'])
    .where('key_id', 'is not', null)
    .orderBy('entry_id')
    .execute()
  expect(entries.map(({ actor, action, target }) => [actor, action, target])).toEqual([
    [org.adminEmail, 'member.invited', 'audited@example.com'],
    [org.adminEmail, 'invitation.revoked', 'audited@example.com'],
    [org.adminEmail, 'knowledge.written', org.orgId],
  ])
})
