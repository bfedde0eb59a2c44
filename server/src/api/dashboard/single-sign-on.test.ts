import { afterAll, describe, expect, it } from 'vitest'
import { type Account, CLIENT, passProvider, startProvider } from '#test/doubles/openid-provider.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { ask, type TestSession, signIn } from '../testing/session.ts'

const PUBLIC_URL = 'http://loam.test'
const CALLBACK = `${PUBLIC_URL}/sign-in/oidc`
const accounts: Record<string, Account> = {
  ann: { email: 'Ann@Example.com', email_verified: true, given_name: 'Ann', family_name: 'Lee' },
  invited: { email: 'invited@example.com', email_verified: true, given_name: 'Ina' },
  unverified: { email: 'ann@example.com', email_verified: false },
  stranger: { email: 'stranger@example.com', email_verified: true },
  nameless: {},
  hostile: {
    email: 'hostile@example.com',
    email_verified: true,
    given_name: 'A\0',
    family_name: 'x'.repeat(5000),
  },
  victim: { email: 'victim@example.com', email_verified: true },
  newcomer: { email: 'newcomer@example.com', email_verified: true },
  consultant: { email: 'consultant@example.com', email_verified: true },
  spoiled: { email: 'ann\0@example.com', email_verified: true },
}
const provider = await startProvider(CALLBACK, accounts)
afterAll(() => provider.close())
const app = await makeApp({
  settings: {
    LOAM_OIDC_ISSUER: provider.issuer,
    LOAM_OIDC_CLIENT_ID: CLIENT.id,
    LOAM_OIDC_CLIENT_SECRET: CLIENT.secret,
  },
})
const org = await app.makeOrg('Acme')
await org.keyFor('ann@example.com', 'member')
const system = app.store.system
const confirm = (email: string) =>
  system.updateTable('members').set({ confirmed_at: new Date() }).where('email', '=', email).execute()
await confirm('ann@example.com')

async function begin(next = '/workflows/1') {
  const started = await app.api.inject({ url: `/sign-in/oidc/start?next=${encodeURIComponent(next)}` })
  expect(started.statusCode).toBe(303)
  const cookie = String(started.headers['set-cookie']).split(';', 1)[0] ?? ''
  return {
    url: new URL(String(started.headers.location)),
    cookie,
    setCookie: String(started.headers['set-cookie']),
  }
}
const comeBack = (returned: URL, cookie: string) =>
  app.api.inject({ url: returned.pathname + returned.search, headers: { cookie } })
async function signInAs(login: string, next?: string) {
  const { url, cookie } = await begin(next)
  return comeBack(await passProvider(url.href, login, CALLBACK), cookie)
}

type Injected = Awaited<ReturnType<typeof signInAs>>
const cookieOf = (answer: Injected, name: string) =>
  [answer.headers['set-cookie']]
    .flat()
    .find((one) => one?.startsWith(`${name}=`))
    ?.split(';', 1)[0] ?? ''
const sessionOf = async (cookie: string) => {
  const answer = await app.api.inject({ url: '/internal/session', headers: { cookie } })
  return answer.statusCode === 200 ? answer.json().data : answer.statusCode
}
/**
 * Returns the organisations offered to a person who came back from the provider, and a function that chooses
 * one.
 */
function choosing(answer: Injected) {
  expect([answer.statusCode, answer.headers.location]).toEqual([303, '/sign-in/organisations'])
  expect(cookieOf(answer, 'loam_session')).toBe('')
  const cookie = cookieOf(answer, 'loam_identity')
  return {
    offered: async () => {
      const read = await app.api.inject({ url: '/internal/sign-in/organisations', headers: { cookie } })
      return read.json().data.organisations
    },
    choose: (orgId: string) =>
      app.api.inject({
        method: 'POST',
        url: '/internal/sign-in/organisations',
        headers: { cookie, origin: PUBLIC_URL },
        payload: { org_id: orgId },
      }),
  }
}
async function acceptByLink(admin: TestSession, email: string) {
  await admin.call('POST', '/members', { email, role: 'member' })
  const { invitations } = (await admin.call('GET', '/members')).body.data
  const { link } = invitations.find((one: { email: string }) => one.email === email)
  const path = `/internal${new URL(link).pathname}`
  return app.api.inject({ method: 'POST', url: path, headers: { origin: PUBLIC_URL }, payload: {} })
}

describe('F60: an identity goes with the memberships that it took on itself', () => {
  it('an administrator who accepts for an address reaches nothing else of it, and its owner never lands there', async () => {
    const evil = await app.makeOrg('Evil')
    const admin = await signIn(app, evil.orgId, evil.adminEmail)
    const stolen = cookieOf(await acceptByLink(admin, 'victim@example.com'), 'loam_session')
    expect((await sessionOf(stolen)).organisation.id).toBe(evil.orgId)
    await org.keyFor('victim@example.com', 'member')
    await system
      .updateTable('members')
      .set({ confirmed_at: new Date() })
      .where('org_id', '=', org.orgId)
      .where('email', '=', 'victim@example.com')
      .execute()

    const seen = await app.api.inject({ url: '/internal/organisations', headers: { cookie: stolen } })
    expect(seen.json().data).toMatchObject({
      verified: false,
      organisations: [{ org_id: evil.orgId, current: true }],
    })
    const switched = await ask(
      app,
      { method: 'POST', path: '/session/organisation' },
      { org_id: org.orgId },
      {
        cookie: stolen,
        origin: PUBLIC_URL,
        'x-loam-csrf': (await sessionOf(stolen)).csrf_token,
      },
    )
    expect([switched.status, switched.body.error]).toEqual([403, 'Forbidden'])

    const answer = await signInAs('victim')
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/workflows/1'])
    expect((await sessionOf(cookieOf(answer, 'loam_session'))).organisation.id).toBe(org.orgId)
  })

  it('a membership that nobody confirmed is offered; choosing it confirms it and ends the sessions before', async () => {
    const evil = await app.makeOrg('Impostor')
    const admin = await signIn(app, evil.orgId, evil.adminEmail)
    const before = cookieOf(await acceptByLink(admin, 'newcomer@example.com'), 'loam_session')
    const { offered, choose } = choosing(await signInAs('newcomer'))
    const offer = { org_id: evil.orgId, name: 'Impostor', role: 'member' }
    expect(await offered()).toEqual([{ ...offer, status: 'unconfirmed', vouched_by: evil.adminEmail }])
    expect((await sessionOf(before)).organisation.id).toBe(evil.orgId)
    expect((await choose(org.orgId)).statusCode).toBe(404)
    const chosen = await choose(evil.orgId)
    expect([chosen.statusCode, chosen.json().data]).toEqual([200, { next: '/workflows/1' }])
    expect((await sessionOf(cookieOf(chosen, 'loam_session'))).email).toBe('newcomer@example.com')
    expect(await sessionOf(before)).toBe(401)
    expect((await signInAs('newcomer')).headers.location).toBe('/workflows/1')
  })

  it('with several organisations the person chooses, and switches', async () => {
    const [one, two, three] = [await app.makeOrg('One'), await app.makeOrg('Two'), await app.makeOrg('Three')]
    for (const joined of [one, two]) await joined.keyFor('consultant@example.com', 'member')
    await confirm('consultant@example.com')
    const admin = await signIn(app, three.orgId, three.adminEmail)
    await admin.call('POST', '/members', { email: 'consultant@example.com', role: 'user' })
    const { offered, choose } = choosing(await signInAs('consultant', '/usage'))
    expect(
      (await offered()).map((each: { name: string; status: string }) => [each.name, each.status]),
    ).toEqual([
      ['One', 'member'],
      ['Two', 'member'],
      ['Three', 'invited'],
    ])
    const chosen = await choose(two.orgId)
    expect(chosen.json().data).toEqual({ next: '/usage' })
    const cookie = cookieOf(chosen, 'loam_session')
    const session = await sessionOf(cookie)
    expect(session.organisation).toEqual({ id: two.orgId, name: 'Two' })

    const headers = { cookie, origin: PUBLIC_URL, 'x-loam-csrf': session.csrf_token }
    const listed = (await ask(app, { method: 'GET', path: '/organisations' }, undefined, headers)).body.data
    expect([listed.verified, listed.organisations.map((each: { current: boolean }) => each.current)]).toEqual(
      [true, [false, true, false]],
    )
    expect(
      (await ask(app, { method: 'POST', path: '/session/organisation' }, { org_id: org.orgId }, headers))
        .status,
    ).toBe(404)
    const switched = await ask(
      app,
      { method: 'POST', path: '/session/organisation' },
      { org_id: three.orgId },
      headers,
    )
    expect([switched.status, switched.body.data]).toEqual([200, { next: '/shortcuts' }])
    const there = String(switched.headers['set-cookie']).split(';', 1)[0] ?? ''
    expect((await sessionOf(there)).organisation.name).toBe('Three')
    expect(await sessionOf(cookie)).toBe(401)
    expect((await admin.call('GET', '/members')).body.data.invitations).toEqual([])
  })

  it('the proved identity belongs to one browser, for ten minutes', async () => {
    for (const cookie of [
      '',
      'loam_identity=made-up',
      `loam_identity=${(await begin()).cookie.split('=', 2)[1]}`,
    ]) {
      const answer = await app.api.inject({ url: '/internal/sign-in/organisations', headers: { cookie } })
      expect(answer.statusCode).toBe(410)
    }
  })
})

describe('dashboard: OIDC', () => {
  it('uses the code flow with PKCE, state and nonce, and redirects a member to the requested page', async () => {
    const { url, setCookie } = await begin()
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      response_type: 'code',
      client_id: CLIENT.id,
      redirect_uri: CALLBACK,
      code_challenge_method: 'S256',
      state: expect.any(String),
      nonce: expect.any(String),
    })
    expect(setCookie).toMatch(/; Path=\/sign-in\/oidc; Max-Age=600; HttpOnly; SameSite=Lax$/)
    const answer = await signInAs('ann')
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/workflows/1'])
    const cookie = [answer.headers['set-cookie']].flat().find((one) => one?.startsWith('loam_session='))
    const session = await app.api.inject({
      url: '/internal/session',
      headers: { cookie: cookie?.split(';', 1)[0] },
    })
    expect(session.json().data).toMatchObject({ email: 'ann@example.com', role: 'member' })
    expect((await signInAs('ann', '//evil.example')).headers.location).toBe('/workflows')
  })

  it('F60: invited people are offered the organisation, and join by choosing it', async () => {
    const admin = await signIn(app, org.orgId, org.adminEmail)
    await admin.call('POST', '/members', { email: 'invited@example.com', role: 'user' })
    const { offered, choose } = choosing(await signInAs('invited', ''))
    expect(await offered()).toEqual([
      { org_id: org.orgId, name: 'Acme', role: 'user', status: 'invited', vouched_by: org.adminEmail },
    ])
    expect((await admin.call('GET', '/members')).body.data.invitations).toHaveLength(1)
    const answer = await choose(org.orgId)
    expect([answer.statusCode, answer.json().data]).toEqual([200, { next: '/shortcuts' }])
    const { members, invitations } = (await admin.call('GET', '/members')).body.data
    expect(members).toContainEqual(
      expect.objectContaining({ email: 'invited@example.com', first_name: 'Ina', role: 'user' }),
    )
    expect(invitations).toEqual([])
  })

  it.each([
    ['unverified', 'unverified'],
    ['nameless', 'unverified'],
    ['spoiled', 'unverified'],
    ['stranger', 'not_a_member'],
  ])('%s is refused: %s', async (login, problem) => {
    const answer = await signInAs(login)
    expect([answer.statusCode, answer.headers.location]).toEqual([303, `/sign-in?problem=${problem}`])
    expect(String(answer.headers['set-cookie'])).not.toContain('loam_session')
  })

  it('F51: signing in succeeds with any `next` address in the link and any name at the provider', async () => {
    for (const [next, location] of [
      ['/workflows/1?q=zoë — 😀', '/workflows/1?q=zo%C3%AB%20%E2%80%94%20%F0%9F%98%80'],
      ['/work\r\nset-cookie: a=b', '/workset-cookie:%20a=b'],
      ['/\t/evil.example', '/workflows'],
      ['/\\evil.example', '/workflows'],
      ['/x/..//evil.example', '/workflows'],
    ] as const) {
      const answer = await signInAs('ann', next)
      expect([answer.statusCode, answer.headers.location]).toEqual([303, location])
    }
    const admin = await signIn(app, org.orgId, org.adminEmail)
    await admin.call('POST', '/members', { email: 'hostile@example.com', role: 'user' })
    expect((await choosing(await signInAs('hostile')).choose(org.orgId)).statusCode).toBe(200)
    const { members } = (await admin.call('GET', '/members')).body.data
    expect(members).toContainEqual(
      expect.objectContaining({ email: 'hostile@example.com', first_name: null, last_name: null }),
    )
  })

  it('an attempt that another browser began, that was altered or that is sent twice signs nobody in', async () => {
    const mine = await begin()
    const other = await begin()
    const returned = await passProvider(mine.url.href, 'ann', CALLBACK)
    const altered = new URL(returned)
    altered.searchParams.set('state', 'another')
    for (const [url, cookie, problem] of [
      [returned, '', 'expired'],
      [returned, 'loam_sign_in=made-up', 'expired'],
      [returned, other.cookie, 'provider'],
      [altered, mine.cookie, 'provider'],
    ] as const) {
      const answer = await comeBack(url, cookie)
      expect([answer.statusCode, answer.headers.location]).toEqual([303, `/sign-in?problem=${problem}`])
    }
    expect((await comeBack(returned, mine.cookie)).headers.location).toBe('/workflows/1')
    expect((await comeBack(returned, mine.cookie)).headers.location).toBe('/sign-in?problem=provider')
  })

  it('is offered if it is configured, and absent if not', async () => {
    expect((await app.api.inject({ url: '/internal/sign-in' })).json().data).toEqual({
      mail: false,
      oidc: true,
    })
    const plain = await makeApp({ services: { store: app.store } })
    expect((await plain.api.inject({ url: '/internal/sign-in' })).json().data.oidc).toBe(false)
    expect((await plain.api.inject({ url: '/sign-in/oidc/start' })).statusCode).toBe(404)
    expect((await plain.api.inject({ url: '/sign-in/oidc' })).statusCode).toBe(404)
  })

  it('an unreachable provider is reported, and asked again the next time', async () => {
    const away = await makeApp({
      services: { store: app.store },
      settings: {
        LOAM_OIDC_ISSUER: 'http://127.0.0.1:1',
        LOAM_OIDC_CLIENT_ID: 'x',
        LOAM_OIDC_CLIENT_SECRET: 'y',
      },
    })
    const answer = await away.api.inject({ url: '/sign-in/oidc/start' })
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/sign-in?problem=provider'])
  })
})
