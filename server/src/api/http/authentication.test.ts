import { describe, expect, it } from 'vitest'
import { SCOPES } from '#contract/scopes.ts'
import { newKey } from '#server/lib/security/keys.ts'
import { endKey, rotateKey } from '#server/organisation/keys.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { expireKey } from '#server/organisation/store/keys.ts'
import { makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp()
const org = await app.makeOrg()

async function keyIdOf(key: string): Promise<string> {
  const found = await app.store.system
    .selectFrom('api_keys')
    .select('key_id')
    .where('last4', '=', key.slice(-4))
    .executeTakeFirstOrThrow()
  return found.key_id
}

describe('part 5: a request carries Authorization: Bearer <API_KEY>', () => {
  it.each<[string, string | undefined, string]>([
    ['no header', undefined, 'An API key is required'],
    ['another scheme', 'Basic abc', 'must have the form'],
    ['no key', 'Bearer', 'must have the form'],
    ['a key of another shape', 'Bearer sk_123', 'invalid'],
    [
      'a typo in the checksum',
      `Bearer ${org.key.slice(0, -1)}${org.key.endsWith('a') ? 'b' : 'a'}`,
      'invalid',
    ],
    ['a well-formed key that was never issued', `Bearer ${newKey()}`, 'invalid'],
  ])('401: %s', async (_name, authorization, words) => {
    const answer = await app.call(
      null,
      'GET',
      '/user',
      undefined,
      authorization === undefined ? {} : { authorization },
    )
    expect(answer.status).toBe(401)
    expect(answer.body).toEqual({
      status: 401,
      error: 'Unauthorized',
      message: expect.stringContaining(words),
    })
    expect(answer.headers['www-authenticate']).toBe('Bearer')
  })

  it('the scheme is not case-sensitive', async () => {
    const answer = await app.call(null, 'GET', '/user', undefined, { authorization: `bearer ${org.key}` })
    expect(answer.status).toBe(200)
  })

  it('D3: keys have the prefix, 40 base62 characters, and only their hash is stored', async () => {
    expect(org.key).toMatch(/^loam_[0-9A-Za-z]{40}$/)
    const rows = await app.store.system.selectFrom('api_keys').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(org.key.slice(5, 39))
  })

  it('D3: the time of last use is kept', async () => {
    const key = await org.keyFor('last@example.com', 'member')
    const before = Date.now()
    await app.call(key, 'GET', '/user')
    const { last_used_at } = await app.store.system
      .selectFrom('api_keys')
      .select('last_used_at')
      .where('key_id', '=', await keyIdOf(key))
      .executeTakeFirstOrThrow()
    expect(Number(last_used_at)).toBeGreaterThanOrEqual(before)
  })

  it('a revoked key is 401', async () => {
    const key = await org.keyFor('revoked@example.com', 'member')
    expect((await app.call(key, 'GET', '/user')).status).toBe(200)
    await endKey(app.store.system, OPERATOR, await keyIdOf(key))
    expect((await app.call(key, 'GET', '/user')).status).toBe(401)
  })

  it('an expired key is 401 from the moment it expires', async () => {
    const inAnHour = new Date(Date.now() + 3_600_000)
    const key = await org.keyFor('expiring@example.com', 'member', { expiresAt: inAnHour })
    expect((await app.call(key, 'GET', '/user')).status).toBe(200)
    await expireKey(app.store.system, await keyIdOf(key), new Date())
    expect((await app.call(key, 'GET', '/user')).status).toBe(401)
  })

  it('rotation without overlap ends the old key at once, with overlap after it', async () => {
    const old = await org.keyFor('rotating@example.com', 'member', { scopes: ['workflows:read'] })
    const before = Date.now()
    const second = await rotateKey(app.store.system, OPERATOR, await keyIdOf(old), 3_600_000)
    expect((await app.call(old, 'GET', '/user')).status).toBe(200)
    expect((await app.call(second.key, 'GET', '/user')).status).toBe(200)
    const { expires_at } = await app.store.system
      .selectFrom('api_keys')
      .select('expires_at')
      .where('key_id', '=', await keyIdOf(old))
      .executeTakeFirstOrThrow()
    expect(Number(expires_at)).toBeGreaterThanOrEqual(before + 3_600_000)
    expect(Number(expires_at)).toBeLessThanOrEqual(Date.now() + 3_600_000)
    await expireKey(app.store.system, await keyIdOf(old), new Date())
    expect((await app.call(old, 'GET', '/user')).status).toBe(401)
    const third = await rotateKey(app.store.system, OPERATOR, second.record.key_id, 0)
    expect((await app.call(second.key, 'GET', '/user')).status).toBe(401)
    expect(third.record.scopes).toEqual(['workflows:read'])
    expect((await app.call(third.key, 'POST', '/org/members', {})).status).toBe(403)
  })
})

describe('D11: roles and scopes', () => {
  it.each([
    ['admin', 201],
    ['member', 403],
    ['user', 403],
  ])('members:write with role %s: %i', async (role, status) => {
    const key = await org.keyFor(`${role}.scope@example.com`, role)
    const answer = await app.call(key, 'POST', '/org/members', {
      email: `x${role}@example.com`,
      role: 'member',
    })
    expect(answer.status).toBe(status)
    if (status === 403) {
      expect(answer.body).toEqual({
        status: 403,
        error: 'INSUFFICIENT_SCOPE',
        message: 'This key lacks the scope members:write',
      })
    }
  })

  it('a key narrowed at creation lacks the other scopes', async () => {
    const key = await org.keyFor('narrow@example.com', 'admin', { scopes: ['workflows:read'] })
    expect((await app.call(key, 'POST', '/org/members', {})).status).toBe(403)
  })

  it("the owner's role is read again on each request", async () => {
    const key = await org.keyFor('demoted@example.com', 'admin')
    expect((await app.call(key, 'DELETE', '/org/members?email=nobody@example.com')).status).toBe(404)
    await app.store.system
      .updateTable('members')
      .set({ role: 'member' })
      .where('email', '=', 'demoted@example.com')
      .execute()
    expect((await app.call(key, 'DELETE', '/org/members?email=nobody@example.com')).status).toBe(403)
  })

  it('an unrecognised stored role reads as member with no scopes', async () => {
    const key = await org.keyFor('odd@example.com', 'admin')
    await app.store.system
      .updateTable('members')
      .set({ role: 'wizard' })
      .where('email', '=', 'odd@example.com')
      .execute()
    const user = await app.call(key, 'GET', '/user')
    expect([user.status, user.body.data.role]).toEqual([200, 'member'])
    expect((await app.call(key, 'POST', '/org/members', {})).status).toBe(403)
  })

  it.each(SCOPES.filter((scope) => scope !== 'members:write'))(
    'every route with another scope refuses a key that has only %s',
    async (scope) => {
      const key = await org.keyFor('matrix@example.com', 'admin', { scopes: [scope] })
      for (const route of protectedRoutes().filter((candidate) => candidate.scope !== scope)) {
        const { status, body } = await app.call(key, route.method, route.url)
        expect([route.method, route.url, status, body.error]).toEqual([
          route.method,
          route.url,
          403,
          'INSUFFICIENT_SCOPE',
        ])
      }
    },
  )
})

function protectedRoutes(): { method: string; url: string; scope: string }[] {
  const paths = app.api.swagger().paths ?? {}
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations as Record<string, { description?: string }>).flatMap(([method, operation]) => {
      const scope = /Needs: `([^`]+)`/.exec(operation.description ?? '')?.[1]
      const url = path.replaceAll(/\{[^}]+\}/g, '00000000-0000-7000-8000-000000000000')
      return scope === undefined ? [] : [{ method: method.toUpperCase(), url, scope }]
    }),
  )
}

describe('D7: the order of checks', () => {
  it('401 before 404, scope 403 before body 400', async () => {
    expect((await app.call(null, 'GET', '/nowhere')).status).toBe(401)
    const key = await org.keyFor('order@example.com', 'member')
    expect((await app.call(key, 'POST', '/org/members', '{broken')).status).toBe(403)
    expect((await app.call(null, 'POST', '/org/members', '{broken')).status).toBe(401)
  })
})
