import { describe, expect, it } from 'vitest'
import { ROLES, scopesOfRole } from '#contract/scopes.ts'
import { newId } from '#server/lib/ids.ts'
import { recordsOf } from '#test/builders/organisation-records.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { ask, ORIGIN, signIn } from '../testing/session.ts'

const app = await makeApp()
const [org, strangers] = [await app.makeOrg(), await app.makeOrg()]
const sessions = {
  admin: await signIn(app, org.orgId, org.adminEmail),
  member: await signIn(app, org.orgId, 'member@example.com', 'member'),
  user: await signIn(app, org.orgId, 'user@example.com', 'user'),
}
const stranger = await signIn(app, strangers.orgId, strangers.adminEmail)

/** The declared routes themselves: a new one is tested without being listed here. */
const routes = app.api.declaredRoutes
  .filter(({ method }) => method !== 'HEAD' && method !== 'OPTIONS')
  .flatMap(({ method, url, scope }) => {
    const path = url.replace(/^\/internal|^(?=\/api\/v1)/, '')
    return /^\/(internal|api\/v1)\//.test(url)
      ? [{ name: `${method} /internal${path}`, method, path, scope }]
      : []
  })
const guarded = routes.filter(({ scope }) => scope !== 'public')
const isUnsafe = ({ method }: { method: string }) => method !== 'GET'
/** Fills a path with random ids, which do not exist. */
const fill = (path: string) => path.replaceAll(/:(\w+)/g, () => newId())
const bodyOf = ({ method }: { method: string }) => (method === 'GET' || method === 'DELETE' ? undefined : {})

it('there are routes of both kinds to try', () => {
  const names = routes.map(({ name }) => name)
  expect(names).toContain('GET /internal/session')
  expect(names).toContain('POST /internal/api/v1/workflows/:workflow_id/sheets/:sheet_id/rows')
})

describe('without a session it is 401, and a key does not help', () => {
  it.each(guarded)('$name', async (route) => {
    for (const headers of [
      {},
      { cookie: `loam_session=${'a'.repeat(44)}` },
      { authorization: `Bearer ${org.key}` },
    ]) {
      const answer = await ask(app, { method: route.method, path: fill(route.path) }, bodyOf(route), {
        origin: ORIGIN,
        ...headers,
      })
      expect([answer.status, answer.body.error]).toEqual([401, 'Unauthorized'])
    }
  })
})

it('an internal route takes no key and no request of other sites, however its address is spelled', async () => {
  const answers: [string, number][] = []
  for (const { method, path, scope, name } of routes.filter((route) => !route.path.startsWith('/api/'))) {
    if (scope === 'public' && method === 'GET') continue
    for (const prefix of ['/%69nternal', '/internal%2f..%2finternal', '/inter%6e%61l']) {
      const answer = await app.api.inject({
        method: method as 'GET',
        url: `${prefix}${fill(path)}`,
        headers: { authorization: `Bearer ${org.key}`, origin: 'https://evil.example' },
      })
      answers.push([name, answer.statusCode])
    }
  }
  expect(answers.filter(([, status]) => ![401, 403, 404].includes(status))).toEqual([])
  expect(answers).toContainEqual(['POST /internal/keys', 401])
  expect(answers).toContainEqual(['POST /internal/sign-in/:token', 403])
})

describe('403 CSRF: an unsafe request of a session has our own Origin and the token of that session', () => {
  it.each(guarded.filter(isUnsafe))('$name', async (route) => {
    const { cookie, csrf } = sessions.admin
    const wrong: Record<string, string>[] = [
      { 'x-loam-csrf': csrf },
      { 'x-loam-csrf': csrf, origin: 'null' },
      { 'x-loam-csrf': csrf, origin: 'https://evil.example' },
      { 'x-loam-csrf': csrf, origin: `${ORIGIN}.evil.example` },
      { origin: ORIGIN },
      { origin: ORIGIN, 'x-loam-csrf': '' },
      { origin: ORIGIN, 'x-loam-csrf': stranger.csrf },
    ]
    for (const headers of wrong) {
      const answer = await ask(app, { method: route.method, path: fill(route.path) }, bodyOf(route), {
        cookie,
        ...headers,
      })
      expect([headers, answer.status, answer.body.error]).toEqual([headers, 403, 'CSRF'])
    }
  })
})

describe('403 CSRF: unsafe requests without a session must come from a page of this server too', () => {
  it.each(routes.filter((route) => route.scope === 'public' && isUnsafe(route)))('$name', async (route) => {
    for (const headers of [{}, { origin: 'https://evil.example' }] as Record<string, string>[]) {
      const answer = await ask(app, { method: route.method, path: fill(route.path) }, bodyOf(route), headers)
      expect([answer.status, answer.body.error]).toEqual([403, 'CSRF'])
    }
  })
})

describe('nothing can do more than the role of the session', () => {
  it.each(guarded.filter(({ path }) => path !== '/sign-out'))('$name', async (route) => {
    for (const role of ROLES) {
      const { scope } = route
      const isPermitted = scope === 'any key' || scopesOfRole(role).some((permitted) => permitted === scope)
      const answer = await sessions[role].call(route.method, fill(route.path), bodyOf(route))
      const { error } = answer.body ?? {}
      expect([role, error === 'INSUFFICIENT_SCOPE']).toEqual([role, !isPermitted])
      expect([role, answer.status >= 500]).toEqual([role, false])
    }
  })
})

it('ids of another organisation are 404 as unknown ids are, and nothing of it changes', async () => {
  const made = await org.call('POST', '/workflows/', { name: 'Private' })
  const ids: Record<string, string> = {
    workflow_id: made.body.data.workflow_id,
    sheet_id: made.body.data.workflow_id,
    session_id: (await sessions.admin.call('GET', '/session')).body.data.session_id,
    key_id: (
      await app.store.system
        .selectFrom('api_keys')
        .select('key_id')
        .where('org_id', '=', org.orgId)
        .where('is_session', '=', false)
        .executeTakeFirstOrThrow()
    ).key_id,
    email: 'member@example.com',
  }
  const before = await recordsOf(app.store, org.orgId)
  for (const route of guarded.filter(({ path }) => path.includes(':'))) {
    const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? newId())
    const answer = await stranger.call(route.method, path, bodyOf(route))
    expect([route.name, [400, 404].includes(answer.status)]).toEqual([route.name, true])
    expect(JSON.stringify(answer.body)).not.toContain('Private')
  }
  expect(await recordsOf(app.store, org.orgId)).toEqual(before)
})
