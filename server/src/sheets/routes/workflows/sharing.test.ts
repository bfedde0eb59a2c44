import { describe, expect, it } from 'vitest'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { setSharing } from '#server/sheets/workflows.ts'
import { type Json, makeApp, type TestOrg } from '#test/plumbing/harness.ts'

const app = await makeApp()
const NOBODY = '01890000-0000-7000-8000-000000000001'

const create = async (org: TestOrg, name = 'Leads'): Promise<string> =>
  (await org.call('POST', '/workflows/', { name })).body.data.workflow_id
const overview = async (org: TestOrg, id: string): Promise<Json> =>
  (await org.call('GET', `/workflows/${id}`)).body.data
const share = (org: TestOrg, workflowId: string, email: string, shared = true) =>
  setSharing(app.store.system, OPERATOR, { orgId: org.orgId, workflowId, email }, shared)

describe('sharing', () => {
  it('gives access, takes it back, and leaves one audit entry for each change', async () => {
    const org = await app.makeOrg()
    const id = await create(org)
    const bob = await org.keyFor('bob@example.com', 'member')
    const status = async () => (await app.call(bob, 'GET', `/workflows/${id}`)).status
    const updated = (await overview(org, id)).updated_at
    expect(await status()).toBe(403)
    for (const shared of [true, true, false, false]) {
      await share(org, id, 'bob@example.com', shared)
      expect(await status()).toBe(shared ? 200 : 403)
    }
    const audit = await app.store.system
      .selectFrom('audit_entries')
      .select(['action', 'target', 'details'])
      .where('org_id', '=', org.orgId)
      .where('action', 'like', 'workflow.%shared')
      .orderBy('entry_id')
      .execute()
    const details = { email: 'bob@example.com' }
    expect(audit).toEqual([
      { action: 'workflow.shared', target: id, details },
      { action: 'workflow.unshared', target: id, details },
    ])
    expect((await overview(org, id)).updated_at).toBe(updated)
  })

  it('with a member of the organisation only, of a workflow that is there, and not with its owner', async () => {
    const [org, other] = [await app.makeOrg(), await app.makeOrg()]
    const id = await create(org)
    await org.keyFor('bob@example.com', 'member')
    await expect(share(org, id, other.adminEmail)).rejects.toThrow(`Member ${other.adminEmail} not found`)
    await expect(share(org, NOBODY, 'bob@example.com')).rejects.toThrow(`Workflow ${NOBODY} not found`)
    await expect(share(other, id, other.adminEmail)).rejects.toThrow(`Workflow ${id} not found`)
    await expect(share(org, id, org.adminEmail)).rejects.toMatchObject({ status: 400 })
    await org.call('DELETE', `/workflows/${id}`)
    await expect(share(org, id, 'bob@example.com')).rejects.toThrow(`Workflow ${id} not found`)
  })

  it('ends with the membership', async () => {
    const org = await app.makeOrg()
    const id = await create(org)
    await org.keyFor('bob@example.com', 'member')
    await share(org, id, 'bob@example.com')
    await org.call('DELETE', '/org/members?email=bob@example.com')
    const again = await org.keyFor('bob@example.com', 'member')
    expect((await app.call(again, 'GET', `/workflows/${id}`)).status).toBe(403)
    expect((await overview(org, id)).shared_users).toEqual([])
  })
})

describe('4.1 Remove Member: impact is reported as warnings', () => {
  it('WORKFLOWS_LOST_OWNER names the living workflows they owned', async () => {
    const org = await app.makeOrg()
    const key = await org.keyFor('owner@example.com', 'member')
    const make = async (name: string) =>
      (await app.call(key, 'POST', '/workflows/', { name })).body.data.workflow_id
    const [one, two, gone] = [await make('One'), await make('Two'), await make('Gone')]
    await app.call(key, 'DELETE', `/workflows/${gone}`)
    await create(org, 'Not theirs')
    const { status, body } = await org.call('DELETE', '/org/members?email=owner@example.com')
    expect([status, body.data]).toEqual([
      200,
      {
        email: 'owner@example.com',
        removed: 'member',
        warnings: [
          {
            code: 'WORKFLOWS_LOST_OWNER',
            message: expect.stringContaining('2 workflows'),
            resources: [
              { id: one, name: 'One', type: 'workflow' },
              { id: two, name: 'Two', type: 'workflow' },
            ],
          },
        ],
      },
    ])
  })

  it('IMPACT_UNKNOWN without resources when it cannot be determined; the removal goes through', async () => {
    const broken = await makeApp()
    const org = await broken.makeOrg()
    const key = await org.keyFor('owner@example.com', 'member')
    await broken.call(key, 'POST', '/workflows/', { name: 'W' })
    await broken.store.system.schema.alterTable('workflows').renameColumn('deleted_at', 'elsewhere').execute()
    const { status, body } = await org.call('DELETE', '/org/members?email=owner@example.com')
    expect([status, body.data]).toEqual([
      200,
      {
        email: 'owner@example.com',
        removed: 'member',
        warnings: [{ code: 'IMPACT_UNKNOWN', message: expect.any(String) }],
      },
    ])
    expect((await broken.call(key, 'GET', '/user')).status).toBe(401)
    const { details } = await broken.store.system
      .selectFrom('audit_entries')
      .select('details')
      .where('action', '=', 'member.removed')
      .executeTakeFirstOrThrow()
    expect(details).toMatchObject({
      revoked_keys: [expect.any(String)],
      impact_unknown: expect.stringContaining('deleted_at'),
    })
  })

  it('while the member is working: every answer is a success or a refusal', async () => {
    const org = await app.makeOrg()
    const key = await org.keyFor('busy@example.com', 'member')
    const id = (await app.call(key, 'POST', '/workflows/', { name: 'W' })).body.data.workflow_id
    const sheets = `/workflows/${id}/sheets`
    const child = (await app.call(key, 'POST', sheets, { name: 'c' })).body.data.sheet_id
    const work = (n: number): [string, string, unknown][] => [
      ['POST', '/workflows/', { name: `w${n}` }],
      ['POST', sheets, { name: `s${n}` }],
      ['POST', `/workflows/${child}/duplicate`, { name: `d${n}` }],
      ['POST', `${sheets}/${child}/inputs`, [{ name: `i${n}`, type: 'string' }]],
      ['PATCH', `${sheets}/${id}`, { auto_run: n % 2 === 0 }],
      ['PATCH', `/workflows/${id}/name`, { name: `n${n}` }],
    ]
    const [members, admins] = await Promise.all([
      Promise.all([1, 2, 3].flatMap(work).map((request) => app.call(key, ...request))),
      Promise.all([
        org.call('DELETE', '/org/members?email=busy@example.com'),
        ...work(4).map((request) => org.call(...request)),
      ]),
    ])
    // 403: the key was still valid, but when the workflow was looked up it no longer belonged to the member.
    expect(members.filter(({ status }) => ![200, 201, 401, 403].includes(status))).toEqual([])
    expect(admins.filter(({ status }) => ![200, 201].includes(status))).toEqual([])
    expect((await org.call('GET', `/workflows/${id}`)).body.data.is_owner).toBe(true)
  })
})
