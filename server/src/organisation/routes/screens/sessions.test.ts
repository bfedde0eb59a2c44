import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { SCOPES, scopesOfRole } from '#contract/scopes.ts'
import { hashToken, newKey } from '#server/lib/security/keys.ts'
import { removeMember } from '#server/organisation/members.ts'
import { createSignInLink } from '#server/organisation/sign-in.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { findMember } from '#server/organisation/store/members.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { ask, ORIGIN, signIn } from '../../../api/testing/session.ts'

const app = await makeApp()
const org = await app.makeOrg('Acme')
const db = app.store.system
const other = await makeApp({ services: { store: app.store } })

async function makeLink(email = org.adminEmail, publicUrl = ORIGIN): Promise<string> {
  const member = await findMember(db, org.orgId, email)
  if (member === undefined) throw new Error(`${email} is no member`)
  const { url } = await createSignInLink(db, OPERATOR, { orgId: org.orgId, member, publicUrl })
  return new URL(url).pathname
}
const open = (path: string, method: string, body?: unknown, headers: Record<string, string> = {}) =>
  ask(app, { method, path }, body, method === 'GET' ? headers : { origin: ORIGIN, ...headers })

describe('dashboard: one-time links', () => {
  it('GET names the person and does not use up the link; POST signs in once; a used, old or unknown link is 410', async () => {
    const path = await makeLink()
    for (let i = 0; i < 3; i++) {
      const seen = await open(path, 'GET')
      expect([seen.status, seen.body.data]).toEqual([200, { email: org.adminEmail, organisation: 'Acme' }])
    }
    const signedIn = await open(path, 'POST', {})
    expect([signedIn.status, signedIn.body]).toEqual([200, { status: 200, data: { next: '/workflows' } }])
    expect(signedIn.headers['set-cookie']).toMatch(
      /^loam_session=\w{44}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/,
    )
    const old = await makeLink()
    await db.updateTable('sign_in_links').set({ expires_at: new Date() }).execute()
    for (const gone of [path, old, `/sign-in/${'a'.repeat(44)}`, '/sign-in/x']) {
      for (const method of ['GET', 'POST']) {
        const answer = await open(gone, method, method === 'GET' ? undefined : {})
        expect([answer.status, answer.body.error]).toEqual([410, 'Gone'])
        expect(answer.body.message).toContain('used or has expired')
        expect(answer.headers['set-cookie']).toBeUndefined()
      }
    }
  })

  it('if two browsers use a link at once, one is signed in', async () => {
    const path = await makeLink()
    const answers = await Promise.all([1, 2, 3, 4].map(() => open(path, 'POST', {})))
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([200, 410, 410, 410])
  })

  it.each([
    ['/workflows/1/sheets/2?row=3', '/workflows/1/sheets/2?row=3'],
    ['//evil.example/x', '/workflows'],
    ['/\\evil.example', '/workflows'],
    ['https://evil.example', '/workflows'],
    ['javascript:alert(1)', '/workflows'],
    ['/internal/sign-out', '/workflows'],
  ])('after signing in, %s leads to %s', async (next, to) => {
    const answer = await open(await makeLink(), 'POST', { next })
    expect(answer.body.data).toEqual({ next: to })
  })

  it('the cookie is limited to https if the server is reached over https', async () => {
    const secure = await makeApp({ services: { store: app.store, publicUrl: () => 'https://loam.test' } })
    const answer = await secure.api.inject({
      method: 'POST',
      url: `/internal${await makeLink()}`,
      headers: { origin: 'https://loam.test' },
    })
    expect(answer.headers['set-cookie']).toMatch(/; Secure$/)
  })

  it('tokens are stored hashed', async () => {
    const path = await makeLink()
    const { token } = await signIn(app, org.orgId, org.adminEmail)
    const stored = JSON.stringify([
      await db.selectFrom('sign_in_links').selectAll().execute(),
      await db.selectFrom('api_keys').selectAll().execute(),
      await db.selectFrom('audit_entries').selectAll().execute(),
    ])
    expect(stored).not.toContain(token)
    expect(stored).not.toContain(path.split('/').at(-1))
  })
})

describe('dashboard: sessions', () => {
  it('GET /internal/session names the member and the scopes of their role', async () => {
    for (const role of ['admin', 'member', 'user'] as const) {
      const session = await signIn(app, org.orgId, `${role}@example.com`, role)
      const { status, body } = await session.call('GET', '/session')
      expect([status, body]).toEqual([
        200,
        {
          status: 200,
          message: `Signed in as ${role}@example.com`,
          data: {
            session_id: expect.any(String),
            email: `${role}@example.com`,
            role,
            scopes: SCOPES.filter((scope) => scopesOfRole(role).includes(scope)),
            organisation: { id: org.orgId, name: 'Acme' },
            csrf_token: session.csrf,
            expires_at: expect.any(String),
          },
        },
      ])
    }
    const nobody = await ask(app, { method: 'GET', path: '/session' }, undefined, {})
    expect([nobody.status, nobody.body.error]).toEqual([401, 'Unauthorized'])
  })

  it('each sign-in starts a new session in place of the one that the browser had', async () => {
    const first = await signIn(app, org.orgId, 'again@example.com', 'member')
    const answer = await open(await makeLink('again@example.com'), 'POST', {}, { cookie: first.cookie })
    expect(answer.headers['set-cookie']).not.toContain(first.token)
    expect((await first.call('GET', '/session')).status).toBe(401)
  })

  it('they are listed with browser and last use, and revoked one by one or all others at once', async () => {
    const email = 'several@example.com'
    const [one, two, three] = [
      await signIn(app, org.orgId, email, 'member'),
      await signIn(app, org.orgId, email),
      await signIn(app, org.orgId, email),
    ]
    const stranger = await signIn(app, org.orgId, 'other@example.com', 'member')
    const listed = (await one.call('GET', '/sessions')).body.data
    expect(listed).toHaveLength(3)
    expect(listed.filter((session: { current: boolean }) => session.current)).toHaveLength(1)
    expect(listed[0]).toEqual({
      session_id: expect.any(String),
      browser: 'Unknown browser',
      created_at: expect.any(String),
      last_used_at: expect.any(String),
      expires_at: expect.any(String),
      current: expect.any(Boolean),
    })
    const idOf = async (session: typeof one) => (await session.call('GET', '/session')).body.data.session_id
    const id = await idOf(two)
    expect((await stranger.call('DELETE', `/sessions/${id}`)).status).toBe(404)
    expect((await one.call('DELETE', `/sessions/${id}`)).body.data).toEqual({ revoked: [id] })
    expect((await two.call('GET', '/session')).status).toBe(401)
    expect((await one.call('DELETE', `/sessions/${id}`)).status).toBe(404)
    const last = await idOf(three)
    expect((await one.call('DELETE', '/sessions')).body.data).toEqual({ revoked: [last] })
    expect((await one.call('GET', '/sessions')).body.data).toHaveLength(1)
    const out = await one.call('POST', '/sign-out')
    expect([out.status, out.headers['set-cookie']]).toEqual([
      200,
      'loam_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
    ])
    expect((await one.call('GET', '/session')).status).toBe(401)
    expect((await stranger.call('GET', '/session')).status).toBe(200)
  })

  it('a session lasts 30 days at most and 7 days without use; removing a member ends it', async () => {
    const email = 'ending@example.com'
    const change = async (token: string, to: { expires_at?: Date; last_used_at?: Date }) =>
      db.updateTable('api_keys').set(to).where('hash', '=', hashToken(token)).execute()
    const [old, idle, kept] = [
      await signIn(app, org.orgId, email, 'member'),
      await signIn(app, org.orgId, email),
      await signIn(app, org.orgId, email),
    ]
    const { created_at, expires_at } = (await old.call('GET', '/sessions')).body.data[0]
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(30 * 86_400_000)
    await change(old.token, { expires_at: new Date() })
    await change(idle.token, { last_used_at: new Date(Date.now() - 7 * 86_400_000) })
    await change(kept.token, { last_used_at: new Date(Date.now() - 6.9 * 86_400_000) })
    const statuses = async () =>
      Promise.all([old, idle, kept].map(async (session) => (await session.call('GET', '/session')).status))
    expect(await statuses()).toEqual([401, 401, 200])
    await removeMember(app.store.org(org.orgId), OPERATOR, org.orgId, email)
    expect(await statuses()).toEqual([401, 401, 401])
  })

  it('a cookie is ignored at /api/v1, and a key at /internal', async () => {
    const { cookie, token } = await signIn(app, org.orgId, org.adminEmail)
    expect((await app.call(null, 'GET', '/user', undefined, { cookie })).status).toBe(401)
    expect((await app.call(token, 'GET', '/user')).status).toBe(401)
    const authorization = `Bearer ${org.key}`
    for (const path of ['/session', '/api/v1/user', '/api/v1/nothing', '/nothing']) {
      expect((await ask(app, { method: 'GET', path }, undefined, { authorization })).status).toBe(401)
    }
    const keyAsCookie = `loam_session=${org.key}`
    expect(
      (await ask(app, { method: 'GET', path: '/session' }, undefined, { cookie: keyAsCookie })).status,
    ).toBe(401)
    expect(
      (await ask(app, { method: 'GET', path: '/session' }, undefined, { cookie: `loam_session=${newKey()}` }))
        .status,
    ).toBe(401)
  })

  it('sessions are not listed as API keys', async () => {
    await signIn(app, org.orgId, org.adminEmail)
    const { listKeys } = await import('#server/organisation/store/keys.ts')
    for (const key of await listKeys(db, org.orgId)) expect(key.last4).not.toBe('')
  })
})

describe('dashboard: the public handlers at /internal/api/v1', () => {
  it('serve a session with its role, limits, idempotency and audit', async () => {
    const session = await signIn(app, org.orgId, 'maker@example.com', 'member')
    const headers = { 'idempotency-key': 'once' }
    const [first, again] = [
      await session.call('POST', '/api/v1/workflows/', { name: 'By session' }, headers),
      await session.call('POST', '/api/v1/workflows/', { name: 'By session' }, headers),
    ]
    expect([first.status, again.headers['idempotency-replayed']]).toEqual([201, 'true'])
    expect(again.body).toEqual(first.body)
    const { workflow_id } = first.body.data
    const entry = await db
      .selectFrom('audit_entries')
      .select(['actor', 'key_id'])
      .where('target', '=', workflow_id)
      .executeTakeFirstOrThrow()
    const { session_id } = (await session.call('GET', '/session')).body.data
    expect(entry).toEqual({ actor: 'maker@example.com', key_id: session_id })
    const read = await session.call('GET', `/api/v1/workflows/${workflow_id}`)
    expect([read.status, Number(read.headers['x-ratelimit-limit'])]).toEqual([200, 20_000_000])
    const user = await signIn(app, org.orgId, 'user@example.com', 'user')
    const refused = await user.call('GET', `/api/v1/workflows/${workflow_id}`)
    expect([refused.status, refused.body.error]).toEqual([403, 'INSUFFICIENT_SCOPE'])
    expect(refused.body.message).toBe('Your role (user) lacks the scope workflows:read')
    const missing = await session.call('GET', '/api/v1/nothing')
    expect([missing.status, missing.body.message]).toEqual([
      404,
      'There is no GET /internal/api/v1/nothing. See /docs for the available endpoints',
    ])
  })

  it('are not in the API reference', () => {
    expect(JSON.stringify(app.api.swagger())).not.toContain('/internal')
  })
})

describe('dashboard: streams of a session that is revoked end at once', () => {
  it('in every process, whichever one revokes it', async () => {
    const session = await signIn(app, org.orgId, 'streaming@example.com', 'member')
    const { workflow_id } = (await session.call('POST', '/api/v1/workflows/', { name: 'Streamed' })).body.data
    const url = await other.api.listen({ port: 0, host: '127.0.0.1' })
    const socket = connect(Number(new URL(url).port), '127.0.0.1').setEncoding('utf8')
    let heard = ''
    socket.on('data', (text: string) => (heard += text))
    const closed = new Promise((resolve) => socket.once('close', resolve))
    const path = `/internal/api/v1/workflows/${workflow_id}/sheets/${workflow_id}/changes`
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: loam.test\r\nConnection: close\r\nCookie: ${session.cookie}\r\n\r\n`,
    )
    await expect.poll(() => heard).toContain('event: change')
    await session.call('POST', '/sign-out')
    await closed
    expect(heard).toContain('text/event-stream')
  })
})
