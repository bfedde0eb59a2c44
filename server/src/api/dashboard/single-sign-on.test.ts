import { afterAll, describe, expect, it } from 'vitest'
import { makeApp } from '#test/harness.ts'
import { type Account, CLIENT, passProvider, startProvider } from '#test/openid-provider.ts'
import { signIn } from '../testing/session.ts'

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

describe('dashboard: OIDC', () => {
  it('goes by the code flow with PKCE, state and nonce, and leads a member where they wanted to go', async () => {
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

  it('invited people join by it', async () => {
    const admin = await signIn(app, org.orgId, org.adminEmail)
    await admin.call('POST', '/members', { email: 'invited@example.com', role: 'user' })
    const answer = await signInAs('invited', '')
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/shortcuts'])
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

  it('F51: whatever a link asks for next, and whatever name somebody has there, nobody is told of a failure', async () => {
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
    expect((await signInAs('hostile')).statusCode).toBe(303)
    const { members } = (await admin.call('GET', '/members')).body.data
    expect(members).toContainEqual(
      expect.objectContaining({ email: 'hostile@example.com', first_name: null, last_name: null }),
    )
  })

  it('what another browser began, was altered or comes twice signs nobody in', async () => {
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

  it('is offered where it is set, and absent where it is not', async () => {
    expect((await app.api.inject({ url: '/internal/sign-in' })).json().data).toEqual({
      mail: false,
      oidc: true,
    })
    const plain = await makeApp({ services: { store: app.store } })
    expect((await plain.api.inject({ url: '/internal/sign-in' })).json().data.oidc).toBe(false)
    expect((await plain.api.inject({ url: '/sign-in/oidc/start' })).statusCode).toBe(404)
    expect((await plain.api.inject({ url: '/sign-in/oidc' })).statusCode).toBe(404)
  })

  it('a provider that is away is told, and asked again the next time', async () => {
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
