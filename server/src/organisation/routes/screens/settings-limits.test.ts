import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'
import { readScreen, signIn } from '../../../api/testing/session.ts'

const app = await makeApp()

describe('F47: what a member creates in the settings is limited', async () => {
  const other = await app.makeOrg('Full')
  const full = await signIn(app, other.orgId, other.adminEmail)
  const made = await full.call('POST', '/api/v1/workflows/', { name: 'Many' })
  const { workflow_id: many } = made.body.data
  const { system } = app.store

  it('500 variables and 4 MiB for a workflow; existing ones can be replaced', async () => {
    const put = (key: string, value = 'x') =>
      full.call('PUT', '/environment', { key, value, workflow_id: many })
    await sql`insert into env_variables (org_id, workflow_id, key, value_sealed, updated_by, updated_at)
      select ${other.orgId}, ${many}, 'KEY_' || n, 'sealed', 'nobody', now() from generate_series(1, 500) n`.execute(
      system,
    )
    expect((await put('ONE_MORE')).body).toMatchObject({ status: 409, error: 'Conflict' })
    expect((await put('KEY_7')).status).toBe(200)
    expect((await readScreen(full, '/environment')).length).toBe(500)
    // The organisation's own variables have a limit of their own.
    expect((await full.call('PUT', '/environment', { key: 'SHARED', value: 'x' })).status).toBe(200)
    await full.call('DELETE', `/environment/KEY_1?workflow_id=${many}`)
    expect((await put('ONE_MORE')).status).toBe(200)
    await sql`update env_variables set value_sealed = repeat('x', 4 * 1024 * 1024)
      where org_id = ${other.orgId} and key = 'KEY_2'`.execute(system)
    expect((await put('ONE_MORE', 'longer')).status).toBe(409)
  })

  it('F52: 1,000 pending invitations, and 20,000 workflows', async () => {
    await sql`insert into invitations (org_id, email, role, token_hash, token_sealed, invited_by)
      select ${other.orgId}, n || '@example.com', 'user', sha256((n || ${other.orgId}::text)::bytea), 'sealed', 'nobody'
      from generate_series(1, 1000) n`.execute(system)
    const invite = () => full.call('POST', '/members', { email: 'one-more@example.com', role: 'user' })
    expect((await invite()).body).toMatchObject({ status: 409, error: 'MEMBER_LIMIT_REACHED' })
    await full.call('DELETE', '/members/7@example.com')
    expect((await invite()).status).toBe(201)

    // One of them exists already.
    await sql`insert into workflows (org_id, workflow_id, name, deleted_at)
      select ${other.orgId}, gen_random_uuid(), 'no ' || n, case when n > 19998 then now() end
      from generate_series(1, 20100) n`.execute(system)
    const create = () => full.call('POST', '/api/v1/workflows/', { name: 'One more' })
    expect([(await create()).status, (await create()).status]).toEqual([201, 409])
    const copied = await full.call('POST', `/api/v1/workflows/${many}/duplicate`, { name: 'Copy' })
    expect([copied.status, copied.body.error]).toEqual([409, 'Conflict'])
  })

  it('1,000 connections', async () => {
    const body = { provider: 'hunter', fields: { secret: 'a secret' } }
    await sql`insert into connections (org_id, connection_id, provider, name, shared, fields_sealed)
      select ${other.orgId}, gen_random_uuid(), 'hunter', 'no ' || n, true, 'sealed' from generate_series(1, 999) n`.execute(
      system,
    )
    expect((await full.call('POST', '/connections', { ...body, name: 'The last' })).status).toBe(201)
    expect((await full.call('POST', '/connections', { ...body, name: 'One more' })).status).toBe(409)
    expect((await readScreen(full, '/connections')).length).toBe(1000)
  })

  it('1,000 active keys, rotated ones included; of those that have ended the latest are listed', async () => {
    await sql`insert into api_keys (org_id, key_id, member_id, hash, last4, revoked_at, created_at)
      select m.org_id, gen_random_uuid(), m.member_id, sha256(('key ' || n || m.org_id)::bytea), 'abcd',
        case when n > 998 then now() end, now() - n * interval '1 second'
      from members m, generate_series(1, 2500) n where m.org_id = ${other.orgId}`.execute(system)
    const first = await full.call('POST', '/keys', {})
    expect(first.status).toBe(201)
    expect((await full.call('POST', '/keys', {})).body).toMatchObject({ status: 409, error: 'Conflict' })
    const rotate = (overlap_seconds: number) =>
      full.call('POST', `/keys/${first.body.data.key_id}/rotate`, { overlap_seconds })
    expect([(await rotate(60)).status, (await rotate(0)).status]).toEqual([409, 201])
    expect((await readScreen(full, '/keys')).length).toBeLessThan(1100)
  })
})
