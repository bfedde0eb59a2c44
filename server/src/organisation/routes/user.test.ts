import { describe, expect, it } from 'vitest'
import { SCOPES } from '#contract/scopes.ts'
import { makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp()

it('GET /user/ answers the caller with the organisation roster sorted by address', async () => {
  const org = await app.makeOrg()
  await org.keyFor('zoe@example.com', 'member')
  await org.keyFor('bob@example.com', 'user')
  const answer = await org.call('GET', '/user/')
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({
    status: 200,
    data: {
      email: org.adminEmail,
      first_name: null,
      last_name: null,
      role: 'admin',
      org_id: org.orgId,
      org_members: { count: 3, emails: [org.adminEmail, 'bob@example.com', 'zoe@example.com'] },
    },
  })
})

it('GET /user names the scopes of the key in X-Loam-Scopes', async () => {
  const org = await app.makeOrg()
  const narrow = await org.keyFor(org.adminEmail, 'admin', { scopes: ['actions:read', 'apps:run'] })
  const scopesOf = async (key: string) =>
    String((await app.call(key, 'GET', '/user')).headers['x-loam-scopes']).split(', ')
  expect(await scopesOf(narrow)).toEqual(['actions:read', 'shortcuts:run'])
  expect(await scopesOf(org.key)).toEqual([...SCOPES])
  const member = await org.keyFor('m@example.com', 'member')
  expect(await scopesOf(member)).not.toContain('members:write')
})

describe('organization knowledge file', () => {
  it('is never 404: without a file the content is null', async () => {
    const org = await app.makeOrg()
    expect((await org.call('GET', '/user/knowledge')).body.data).toEqual({
      content: null,
      exists: false,
      updated_at: null,
    })
  })

  it('PUT replaces the whole file and returns what GET then reads', async () => {
    const org = await app.makeOrg()
    const before = Date.now()
    const written = await org.call('PUT', '/user/knowledge', { content: '# Über uns\n😀' })
    expect(written.body.data).toMatchObject({ content: '# Über uns\n😀', exists: true })
    expect(Date.parse(written.body.data.updated_at)).toBeGreaterThanOrEqual(before)
    expect((await org.call('GET', '/user/knowledge')).body.data).toEqual(written.body.data)
    await org.call('PUT', '/user/knowledge', { content: 'short' })
    expect((await org.call('GET', '/user/knowledge')).body.data.content).toBe('short')
  })

  it('D48: an empty string clears the content, and the file exists', async () => {
    const org = await app.makeOrg()
    await org.call('PUT', '/user/knowledge', { content: 'x' })
    expect((await org.call('PUT', '/user/knowledge', { content: '' })).body.data).toMatchObject({
      content: '',
      exists: true,
      updated_at: expect.any(String),
    })
  })

  it.each([
    ['262,144 bytes of ASCII', 'a'.repeat(262_144), 200],
    ['one more', 'a'.repeat(262_145), 400],
    ['262,144 bytes in two-byte characters', 'é'.repeat(131_072), 200],
    ['one character more', 'é'.repeat(131_073), 400],
    ['262,144 bytes in four-byte characters', '😀'.repeat(65_536), 200],
    ['one character more', '😀'.repeat(65_537), 400],
    ['262,144 bytes that are six times as long in JSON', '\u0001'.repeat(262_144), 200],
  ])('D59: 256 KB is 262,144 bytes of UTF-8: %s', async (_name, content, status) => {
    const org = await app.makeOrg()
    const answer = await org.call('PUT', '/user/knowledge', { content })
    expect(answer.status).toBe(status)
    if (status === 200) expect((await org.call('GET', '/user/knowledge')).body.data.content).toBe(content)
    else
      expect(answer.body.errors).toEqual([
        { field: 'content', message: expect.stringContaining('262144 bytes') },
      ])
  })

  it('needs no scope, and is shared by the members of one organisation only', async () => {
    const [org, other] = [await app.makeOrg(), await app.makeOrg()]
    const key = await org.keyFor('no.scope@example.com', 'user')
    expect((await app.call(key, 'PUT', '/user/knowledge', { content: 'ours' })).status).toBe(200)
    expect((await org.call('GET', '/user/knowledge')).body.data.content).toBe('ours')
    expect((await other.call('GET', '/user/knowledge')).body.data.exists).toBe(false)
  })
})
