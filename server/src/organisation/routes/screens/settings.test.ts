import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { inTransaction } from '#server/database/connection/db.ts'
import { lockMembers } from '#server/organisation/store/organisations.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { readScreen, signIn, type TestSession } from '../../../api/testing/session.ts'

const app = await makeApp()
const org = await app.makeOrg('Acme')
const admin = await signIn(app, org.orgId, org.adminEmail)
const member = await signIn(app, org.orgId, 'member@example.com', 'member')
const user = await signIn(app, org.orgId, 'user@example.com', 'user')
const { workflow_id } = (await admin.call('POST', '/api/v1/workflows/', { name: 'Leads' })).body.data
const sheet = `/workflows/${workflow_id}/sheets/${workflow_id}`

const auditOf = async (action: string): Promise<Json[]> =>
  (await readScreen(admin, `/audit?action=${action}`)).entries

describe('screen 13: members', () => {
  it('are invited with a link, which accepts and signs in, once', async () => {
    const invited = await admin.call('POST', '/members', { email: 'Ann@Example.com', role: 'user' })
    expect([invited.status, invited.body.data]).toEqual([
      201,
      { email: 'ann@example.com', role: 'user', status: 'pending', email_sent: false },
    ])
    const roster = await readScreen(admin, '/members')
    expect(roster.members).toContainEqual({
      email: org.adminEmail,
      first_name: null,
      last_name: null,
      role: 'admin',
      is_you: true,
    })
    const [{ link }] = roster.invitations
    const path = new URL(link).pathname
    const seen = await app.api.inject({ url: `/internal${path}` })
    expect(seen.json().data).toEqual({ email: 'ann@example.com', role: 'user', organisation: 'Acme' })
    const accept = () =>
      app.api.inject({
        method: 'POST',
        url: `/internal${path}`,
        headers: { origin: 'http://loam.test' },
        payload: { first_name: 'Ann' },
      })
    const accepted = await accept()
    expect([accepted.statusCode, accepted.json().data]).toEqual([200, { next: '/shortcuts' }])
    const cookie = String(accepted.headers['set-cookie']).split(';', 1)[0] ?? ''
    const session = await app.api.inject({ url: '/internal/session', headers: { cookie } })
    expect(session.json().data).toMatchObject({ email: 'ann@example.com', name: 'Ann', role: 'user' })
    expect((await accept()).statusCode).toBe(410)
    expect((await readScreen(admin, '/members')).invitations).toEqual([])
  })

  it('change their role with immediate effect, and are removed after the impact was shown', async () => {
    const bob = await signIn(app, org.orgId, 'bob@example.com', 'member')
    await bob.call('POST', '/api/v1/workflows/', { name: "Bob's" })
    const changed = await admin.call('PATCH', '/members/bob%40example.com', { role: 'user' })
    expect(changed.body.data.role).toBe('user')
    expect((await readScreen(bob, '/session')).role).toBe('user')
    expect((await bob.call('GET', '/api/v1/workflows/')).status).toBe(403)
    const impact = await readScreen(admin, '/members/bob%40example.com/impact')
    expect(impact.warnings).toEqual([
      expect.objectContaining({
        code: 'WORKFLOWS_LOST_OWNER',
        resources: [expect.objectContaining({ name: "Bob's" })],
      }),
    ])
    const own = await admin.call('PATCH', `/members/${encodeURIComponent(org.adminEmail)}`, { role: 'user' })
    expect([own.status, own.body.errors[0].field]).toEqual([400, 'role'])
    const removed = await admin.call('DELETE', '/members/bob%40example.com')
    expect(removed.body.data).toMatchObject({ removed: 'member', warnings: impact.warnings })
    expect((await bob.call('GET', '/session')).status).toBe(401)
    expect((await auditOf('member')).map(({ action }) => action)).toEqual(
      expect.arrayContaining(['member.role_changed', 'member.removed', 'member.invited']),
    )
  })
})

describe('screen 14: API keys', () => {
  it.each([
    ['full', 'workflows:write'],
    ['read', 'workflows:read'],
    ['run', 'workflows:run'],
  ])('the preset %s makes a key that works', async (preset, scope) => {
    const made = await member.call('POST', '/keys', { preset })
    expect(made.status).toBe(201)
    expect(made.body.data.scopes).toContain(scope)
    expect(made.body.data.scopes.includes('workflows:write')).toBe(preset === 'full')
    expect((await app.call(made.body.data.key, 'GET', '/user')).status).toBe(200)
  })

  it('are narrowed, rotated with overlap and revoked; a member sees and changes their own only', async () => {
    const expires_at = new Date(Date.now() + 3_600_000).toISOString()
    const given = {
      preset: 'custom',
      scopes: ['workflows:read'],
      allowed_workflow_ids: [workflow_id],
      expires_at,
    }
    expect((await member.call('POST', '/keys', given)).status).toBe(403)
    const made = (await admin.call('POST', '/keys', given)).body.data
    expect(made).toMatchObject({ scopes: ['workflows:read'], expires_at })
    expect((await member.call('DELETE', `/keys/${made.key_id}`)).status).toBe(404)
    const rotated = (await admin.call('POST', `/keys/${made.key_id}/rotate`, { overlap_seconds: 60 })).body
      .data
    for (const key of [made.key, rotated.key]) expect((await app.call(key, 'GET', '/user')).status).toBe(200)
    expect(rotated.replaces).toBe(made.key_id)
    expect((await admin.call('DELETE', `/keys/${rotated.key_id}`)).status).toBe(200)
    expect((await app.call(rotated.key, 'GET', '/user')).status).toBe(401)
    const all = await readScreen(admin, '/keys')
    expect(all.find(({ key_id }: Json) => key_id === rotated.key_id)).toMatchObject({
      status: 'revoked',
      last4: rotated.key.slice(-4),
      allowed_workflow_ids: [workflow_id],
      is_yours: true,
    })
    expect((await readScreen(member, '/keys')).every(({ is_yours }: Json) => is_yours)).toBe(true)
    expect(JSON.stringify(all)).not.toContain(rotated.key)
    const others = await member.call('POST', '/keys', { email: org.adminEmail })
    expect(others.status).toBe(403)
    const wrong = await admin.call('POST', '/keys', { preset: 'custom' })
    expect([wrong.status, wrong.body.errors[0].field]).toEqual([400, 'scopes'])
  })
})

describe('screen 14: connections and variables', () => {
  it('a connection is stored and its secret never shown; the role user only has private ones', async () => {
    const providers = await readScreen(user, '/providers')
    expect(providers).toContainEqual(
      expect.objectContaining({ provider: 'hunter', name: 'Hunter', field_sets: [['secret']] }),
    )
    const given = { provider: 'hunter', name: 'Main', fields: { secret: 'a-very-secret-key' } }
    expect((await user.call('POST', '/connections', given)).status).toBe(403)
    const own = await user.call('POST', '/connections', { ...given, name: 'Mine', shared: false })
    expect(own.status).toBe(201)
    const made = (await admin.call('POST', '/connections', given)).body.data
    expect(made).toMatchObject({ provider: 'hunter', name: 'Main' })
    expect((await admin.call('POST', '/connections', given)).status).toBe(409)
    const added = await admin.call('POST', `/api/v1${sheet}/actions/add`, {
      action_id: 'person_work_email_waterfall',
      inputs: { full_name: 'Ann', email_providers: [{ name: 'Hunter', use_own_key: true }] },
    })
    expect(added.body).toMatchObject({ status: 201 })
    const listed = await readScreen(admin, '/connections')
    expect(listed.map(({ name }: Json) => name).sort()).toEqual(['Main', 'Mine'])
    expect(listed.find(({ name }: Json) => name === 'Main')).toMatchObject({
      owner: org.adminEmail,
      used_by: [{ workflow_id, name: 'Leads' }],
    })
    expect(JSON.stringify(listed)).not.toContain('a-very-secret-key')
    expect((await readScreen(member, '/connections')).map(({ name }: Json) => name)).toEqual(['Main'])
    expect((await member.call('DELETE', `/connections/${own.body.data.connection_id}`)).status).toBe(404)
    expect((await member.call('DELETE', `/connections/${made.connection_id}`)).status).toBe(403)
    expect((await user.call('DELETE', `/connections/${own.body.data.connection_id}`)).status).toBe(200)
  })

  it('a variable is set, replaced and deleted, and its value never shown', async () => {
    const set = (session: TestSession, body: Json) => session.call('PUT', '/environment', body)
    expect((await set(admin, { key: 'TOKEN', value: 'hidden-value' })).status).toBe(200)
    expect((await set(admin, { key: 'TOKEN', value: 'hidden-too', workflow_id })).status).toBe(200)
    expect((await set(member, { key: 'TOKEN', value: 'x' })).status).toBe(403)
    expect((await set(member, { key: 'TOKEN', value: 'x', workflow_id })).status).toBe(403)
    expect((await set(admin, { key: '1', value: 'x' })).body.errors[0].field).toBe('key')
    const listed = await readScreen(admin, '/environment')
    expect(listed).toEqual([
      expect.objectContaining({ key: 'TOKEN', workflow_id: null, workflow_name: null }),
      expect.objectContaining({ key: 'TOKEN', workflow_id, workflow_name: 'Leads' }),
    ])
    expect(JSON.stringify(listed)).not.toContain('hidden')
    expect(await readScreen(member, '/environment')).toHaveLength(1)
    expect((await admin.call('DELETE', `/environment/TOKEN?workflow_id=${workflow_id}`)).status).toBe(200)
    expect((await admin.call('DELETE', '/environment/TOKEN')).status).toBe(200)
    expect(await readScreen(admin, '/environment')).toEqual([])
  })
})

describe('screens 11, 12 and 16', () => {
  it('a workflow is shared and unshared by its owner', async () => {
    const path = `/workflows/${workflow_id}/share`
    expect((await member.call('GET', path)).status).toBe(403)
    const shared = await admin.call('POST', path, { email: 'member@example.com' })
    expect(shared.body.data).toEqual({
      owner: org.adminEmail,
      shared_with: [{ email: 'member@example.com', name: '' }],
      may_share: true,
    })
    expect((await readScreen(member, path)).may_share).toBe(false)
    expect((await member.call('POST', path, { email: 'user@example.com' })).status).toBe(403)
    expect((await admin.call('POST', path, { email: 'nobody@example.com' })).status).toBe(404)
    const back = await admin.call('DELETE', `${path}/member%40example.com`)
    expect(back.body.data.shared_with).toEqual([])
  })

  it('each member has their own layout of a sheet', async () => {
    expect(await readScreen(admin, `${sheet}/layout`)).toBeNull()
    const layout = { order: ['a'], hidden: [], frozen: ['a'], widths: { a: 240.5 }, rowHeight: 28, shown: {} }
    expect((await admin.call('PUT', `${sheet}/layout`, layout)).body.data).toEqual(layout)
    expect((await admin.call('PUT', `${sheet}/layout`, { hidden: ['a'] })).status).toBe(200)
    expect(await readScreen(admin, `${sheet}/layout`)).toMatchObject({
      hidden: ['a'],
      frozen: [],
      widths: {},
    })
    await admin.call('POST', `/workflows/${workflow_id}/share`, { email: 'member@example.com' })
    expect(await readScreen(member, `${sheet}/layout`)).toBeNull()
    await admin.call('DELETE', `/workflows/${workflow_id}/share/member%40example.com`)
    expect((await member.call('PUT', `${sheet}/layout`, layout)).status).toBe(403)
    const wrong = await admin.call('PUT', `${sheet}/layout`, { widths: { a: -1 } })
    expect([wrong.status, wrong.body.errors[0].field]).toEqual([400, 'widths.a'])
  })

  it('a sheet has a schedule with its next run, until it is removed', async () => {
    expect(await readScreen(admin, `${sheet}/schedule`)).toBeNull()
    const set = await admin.call('PUT', `${sheet}/schedule`, {
      cron: '0 9 * * MON',
      timezone: 'Europe/Berlin',
    })
    expect(set.body.data).toMatchObject({ cron: '0 9 * * MON', timezone: 'Europe/Berlin', only: null })
    expect(await readScreen(admin, `${sheet}/schedule`)).toEqual(set.body.data)
    const wrong = await admin.call('PUT', `${sheet}/schedule`, { cron: 'often' })
    expect([wrong.status, wrong.body.errors[0].field]).toEqual([400, 'cron'])
    expect((await admin.call('DELETE', `${sheet}/schedule`)).body.data).toBeNull()
    expect(await readScreen(admin, `${sheet}/schedule`)).toBeNull()
  })

  it('a sheet has a webhook with an address, a new one on demand, and its deliveries', async () => {
    await admin.call('POST', `/api/v1${sheet}/inputs`, [{ name: 'domain', type: 'string' }])
    expect(await readScreen(admin, `${sheet}/webhook`)).toEqual({
      enabled: false,
      address: null,
      max_credits_per_day: null,
      deliveries: [],
    })
    const { address } = (await admin.call('POST', `${sheet}/webhook`, {})).body.data
    expect((await admin.call('POST', `${sheet}/webhook`)).body.data.address).toBe(address)
    const post = (url: string) =>
      app.api.inject({ method: 'POST', url: new URL(url).pathname, payload: { domain: 'acme.example' } })
    expect((await post(address)).statusCode).toBeLessThan(300)
    expect((await readScreen(admin, `${sheet}/webhook`)).deliveries).toHaveLength(1)
    const renewed = (await admin.call('POST', `${sheet}/webhook`, { new_address: true })).body.data
    expect(renewed.address).not.toBe(address)
    expect((await post(address)).statusCode).toBe(404)
    expect((await admin.call('DELETE', `${sheet}/webhook`)).body.data).toMatchObject({
      enabled: false,
      address: null,
    })
    expect((await post(renewed.address)).statusCode).toBe(404)
  })

  it('M16: the daily cost of deliveries is capped; the cap stays until another one, or null, is set', async () => {
    const enable = (body: object) => admin.call('POST', `${sheet}/webhook`, body)
    const cap = async (body: object) => (await enable(body)).body.data.max_credits_per_day
    expect(await cap({ max_credits_per_day: 12.5 })).toBe(12.5)
    expect(await cap({ new_address: true })).toBe(12.5)
    expect((await readScreen(admin, `${sheet}/webhook`)).max_credits_per_day).toBe(12.5)
    const wrong = await enable({ max_credits_per_day: -1 })
    expect([wrong.status, wrong.body.errors[0].field]).toEqual([400, 'max_credits_per_day'])
    expect(await cap({ max_credits_per_day: null })).toBeNull()
  })

  it('a shortcut is published, changed, republished, unpublished, shared and archived', async () => {
    const made = await admin.call('POST', '/shortcuts', { workflow_id, name: 'Find' })
    expect([made.status, made.body.data.name]).toEqual([201, 'Find'])
    const path = `/shortcuts/${made.body.data.id}`
    expect((await user.call('POST', `${path}/archive`)).status).toBe(403)
    expect((await member.call('POST', `${path}/archive`)).status).toBe(403)
    expect((await admin.call('PATCH', path, { name: 'Found' })).body.data.name).toBe('Found')
    expect((await admin.call('POST', `${path}/unpublish`)).body.data.is_published).toBe(false)
    expect((await admin.call('POST', `${path}/republish`)).body.data.is_published).toBe(true)
    expect((await admin.call('POST', `${path}/share`, { email: 'user@example.com' })).status).toBe(200)
    expect((await readScreen(user, '/api/v1/shortcuts')).map(({ name }: Json) => name)).toEqual(['Found'])
    expect((await admin.call('DELETE', `${path}/share/user%40example.com`)).status).toBe(200)
    expect((await admin.call('POST', `${path}/archive`)).body.data.is_archived).toBe(true)
  })

  it('the audit log lists the author, the action and the key or session, page by page', async () => {
    const first = await readScreen(admin, '/audit?limit=5')
    expect(first.entries).toHaveLength(5)
    expect(first.entries[0]).toMatchObject({
      actor: org.adminEmail,
      key: 'session',
      action: 'shortcut.archived',
      subject: { name: 'Found', path: expect.stringMatching(/^\/shortcuts\/[0-9a-f-]{36}$/) },
    })
    const second = await readScreen(admin, `/audit?limit=5&before=${first.next}`)
    const ids = [...first.entries, ...second.entries].map(({ entry_id }: Json) => entry_id)
    expect(ids).toEqual([...new Set<string>(ids)].sort().toReversed())
    expect((await readScreen(admin, '/audit?actor=operator')).entries[0].key).toBeNull()
  })

  it('health reports the use of each limit', async () => {
    const health = await readScreen(admin, '/health')
    expect(health).toMatchObject({
      workers: 0,
      rows_in_the_air: 0,
      runs_under_way: 0,
      mail: false,
      single_sign_on: false,
    })
    expect(health.limits).toContainEqual({
      name: 'Rows',
      setting: 'LOAM_ROWS_PER_ORG',
      used: 1,
      limit: 100_000_000,
    })
  })
})

it('F50: if two administrators demote or remove each other at once, one stays', async () => {
  const { orgId, adminEmail } = await app.makeOrg('Quarrel')
  const one = { email: adminEmail, session: await signIn(app, orgId, adminEmail) }
  const waiting = async () => {
    const { rows } = await sql<{ count: number }>`select count(*)::int as count from pg_locks
      where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`.execute(
      app.store.system,
    )
    return rows[0]?.count
  }
  for (const [method, body] of [
    ['PATCH', { role: 'user' }],
    ['DELETE', undefined],
  ] as const) {
    const email = `${method.toLowerCase()}@example.com`
    const other = { email, session: await signIn(app, orgId, email, 'admin') }
    // Both requests are admitted as administrators before the first of them changes anything.
    const { asked } = await inTransaction(app.store.system, async (trx) => {
      await lockMembers(trx, orgId)
      const both = [
        one.session.call(method, `/members/${email}`, body),
        other.session.call(method, `/members/${one.email}`, body),
      ]
      await expect.poll(waiting).toBe(2)
      return { asked: both }
    })
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(statuses.toSorted((low, high) => low - high)).toEqual([200, 403])
    if (statuses[0] === 403) Object.assign(one, other)
  }
  expect((await readScreen(one.session, '/members')).members.length).toBeGreaterThan(0)
})
