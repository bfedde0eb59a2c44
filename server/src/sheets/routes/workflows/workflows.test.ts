import { describe, expect, it } from 'vitest'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { setSharing } from '#server/sheets/workflows.ts'
import { type Json, makeApp, type TestOrg } from '#test/plumbing/harness.ts'

const app = await makeApp()
const NOBODY = '01890000-0000-7000-8000-000000000001'
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const create = async (org: TestOrg, name = 'Leads'): Promise<string> =>
  (await org.call('POST', '/workflows/', { name })).body.data.workflow_id
const overview = async (org: TestOrg, id: string): Promise<Json> =>
  (await org.call('GET', `/workflows/${id}`)).body.data
const listed = async (key: string): Promise<string[]> =>
  (await app.call(key, 'GET', '/workflows/')).body.data.map((entry: Json) => entry.workflow_id)
const share = (org: TestOrg, workflowId: string, email: string, shared = true) =>
  setSharing(app.store.system, OPERATOR, { orgId: org.orgId, workflowId, email }, shared)

const auditOf = async (org: TestOrg): Promise<[string, string, unknown][]> => {
  const entries = await app.store.system
    .selectFrom('audit_entries')
    .select(['action', 'target', 'details'])
    .where('org_id', '=', org.orgId)
    .orderBy('entry_id')
    .execute()
  return entries.map((entry) => [entry.action, entry.target, entry.details])
}

describe('4.2 Create Workflow', () => {
  it('201 {workflow_id, name, created_at}, and creates the main sheet', async () => {
    const org = await app.makeOrg()
    const { status, body } = await org.call('POST', '/workflows/', { name: '  Lèads 😀 ' })
    expect(status).toBe(201)
    expect(body).toEqual({
      status: 201,
      data: { workflow_id: expect.any(String), name: 'Lèads 😀', created_at: expect.stringMatching(ISO) },
    })
    const { workflow_id, created_at } = body.data
    expect(await overview(org, workflow_id)).toEqual({
      workflow_id,
      name: 'Lèads 😀',
      created_at,
      updated_at: created_at,
      last_run_at: null,
      is_owner: true,
      shared_users: [],
      sheets: [
        {
          sheet_id: workflow_id,
          name: 'Lèads 😀',
          is_main_sheet: true,
          auto_run: false,
          cache_enabled: false,
          cache_since: null,
          webhook_url: null,
        },
      ],
    })
    expect(
      (await org.call('GET', `/workflows/${workflow_id}/sheets/${workflow_id}/inputs`)).body.data,
    ).toEqual([])
    expect(await auditOf(org)).toContainEqual(['workflow.created', workflow_id, { name: 'Lèads 😀' }])
  })

  it('names need not be unique', async () => {
    const org = await app.makeOrg()
    expect(await create(org, 'Same')).not.toBe(await create(org, 'Same'))
  })

  it('without the trailing slash too (D8), and a field that is not known is warned about', async () => {
    const org = await app.makeOrg()
    const { status, body } = await org.call('POST', '/workflows', { name: 'x', owner_id: NOBODY })
    expect([status, body.warnings[0].field]).toEqual([201, 'owner_id'])
  })

  it('D13: a key that is narrowed to certain workflows cannot create', async () => {
    const org = await app.makeOrg()
    const id = await create(org)
    const key = await org.keyFor('narrow@example.com', 'admin', { allowedWorkflowIds: [id] })
    for (const body of [{ name: 'x' }, {}]) {
      const answer = await app.call(key, 'POST', '/workflows/', body)
      expect([answer.status, answer.body.error]).toEqual([403, 'Forbidden'])
    }
  })
})

const BAD_NAMES: [string, unknown, string][] = [
  ['missing', undefined, 'required'],
  ['null', null, 'must be a string'],
  ['a number', 5, 'must be a string'],
  ['an object', { a: 1 }, 'must be a string'],
  ['empty', '', 'must not be empty'],
  ['blank', ' \t\n ', 'must not be empty'],
  ['of 10,000 characters', 'n'.repeat(10_000), 'must be at most 255 characters'],
  ['with NUL', 'a\0b', 'must not contain control characters'],
  ['of several lines', 'a\nb', 'must not contain control characters'],
  [
    'with half of a surrogate pair',
    'a\ud800',
    'must be well-formed Unicode (it holds half of a surrogate pair)',
  ],
]

describe('blank and broken names are 400', async () => {
  const org = await app.makeOrg()
  const id = await create(org)
  const child = (await org.call('POST', `/workflows/${id}/sheets`, { name: 'Child' })).body.data.sheet_id
  const places: [string, string][] = [
    ['POST', '/workflows/'],
    ['PATCH', `/workflows/${id}/name`],
    ['POST', `/workflows/${id}/duplicate`],
    ['POST', `/workflows/${child}/duplicate`],
    ['POST', `/workflows/${id}/sheets`],
    ['PATCH', `/workflows/${id}/sheets/${child}/name`],
    ['PATCH', `/workflows/${id}/sheets/${id}/name`],
  ]
  it.each(BAD_NAMES)('%s', async (_what, name, message) => {
    const before = [await overview(org, id), await listed(org.key)]
    for (const [method, path] of places) {
      const { status, body } = await org.call(method, path, { name })
      expect([status, body]).toEqual([
        400,
        {
          status: 400,
          error: 'Validation Error',
          message: '1 validation errors',
          errors: [{ field: 'name', message }],
        },
      ])
    }
    expect([await overview(org, id), await listed(org.key)]).toEqual(before)
  })
})

describe('4.2 List Workflows', () => {
  it('array of Workflow, most recently updated first', async () => {
    const org = await app.makeOrg()
    const [a, b, c] = [await create(org, 'a'), await create(org, 'b'), await create(org, 'c')]
    expect(await listed(org.key)).toEqual([c, b, a])
    await org.call('PATCH', `/workflows/${a}/name`, { name: 'a again' })
    expect(await listed(org.key)).toEqual([a, c, b])
    await org.call('PATCH', `/workflows/${b}/sheets/${b}`, { auto_run: true })
    expect(await listed(org.key)).toEqual([b, a, c])
    await org.call('POST', `/workflows/${c}/sheets/${c}/inputs`, [{ name: 'x', type: 'string' }])
    expect(await listed(org.key)).toEqual([c, b, a])
    const [entry] = (await org.call('GET', '/workflows/')).body.data
    expect(entry).toEqual({
      workflow_id: c,
      name: 'c',
      created_at: expect.stringMatching(ISO),
      updated_at: expect.stringMatching(ISO),
      last_run_at: null,
    })
    expect(entry.updated_at >= entry.created_at).toBe(true)
  })

  it('workflows updated at the same moment come newest first', async () => {
    const org = await app.makeOrg()
    const ids = [await create(org), await create(org), await create(org)]
    await app.store.system
      .updateTable('workflows')
      .set({ updated_at: new Date(0) })
      .where('org_id', '=', org.orgId)
      .execute()
    expect(await listed(org.key)).toEqual(ids.toReversed())
  })

  it('D13: an admin sees all, a member their own and those shared with them, a narrowed key its own list', async () => {
    const org = await app.makeOrg()
    const ann = await org.keyFor('ann@example.com', 'member')
    const ofAdmin = await create(org, 'of admin')
    const ofAnn = (await app.call(ann, 'POST', '/workflows/', { name: 'of Ann' })).body.data.workflow_id
    expect(await listed(org.key)).toEqual([ofAnn, ofAdmin])
    expect(await listed(ann)).toEqual([ofAnn])
    await share(org, ofAdmin, 'ann@example.com')
    expect(await listed(ann)).toEqual([ofAnn, ofAdmin])
    const narrow = await org.keyFor('ann@example.com', 'member', { allowedWorkflowIds: [ofAdmin] })
    expect(await listed(narrow)).toEqual([ofAdmin])
    const narrowAdmin = await org.keyFor(org.adminEmail, 'admin', { allowedWorkflowIds: [ofAnn, NOBODY] })
    expect(await listed(narrowAdmin)).toEqual([ofAnn])
    await share(org, ofAdmin, 'ann@example.com', false)
    expect(await listed(ann)).toEqual([ofAnn])
    expect(await listed(narrow)).toEqual([])
  })
})

describe('4.2 Workflow overview', () => {
  it('shared_users: sorted, for the owner only', async () => {
    const org = await app.makeOrg()
    const owner = await org.keyFor('owner@example.com', 'member')
    const zed = await org.keyFor('zed@example.com', 'member')
    await org.keyFor('bob@example.com', 'user')
    const id = (await app.call(owner, 'POST', '/workflows/', { name: 'W' })).body.data.workflow_id
    for (const email of ['zed@example.com', 'bob@example.com', 'zed@example.com']) await share(org, id, email)
    const seenBy = async (key: string) => {
      const { is_owner, shared_users } = (await app.call(key, 'GET', `/workflows/${id}`)).body.data
      return [is_owner, shared_users]
    }
    expect(await seenBy(owner)).toEqual([true, ['bob@example.com', 'zed@example.com']])
    expect(await seenBy(org.key)).toEqual([false, []])
    expect(await seenBy(zed)).toEqual([false, []])
  })

  it('sheets[0] is the main sheet; child sheets follow in the order of creation', async () => {
    const org = await app.makeOrg()
    const id = await create(org, 'Main')
    for (const name of ['z', 'a', 'm']) await org.call('POST', `/workflows/${id}/sheets`, { name })
    const { sheets } = await overview(org, id)
    expect(sheets.map((sheet: Json) => [sheet.name, sheet.is_main_sheet])).toEqual([
      ['Main', true],
      ['z', false],
      ['a', false],
      ['m', false],
    ])
  })

  it.each([
    ['not-a-uuid', 400, [{ field: 'workflow_id', message: 'must be a UUID' }]],
    ['%00', 400, [{ field: 'workflow_id', message: 'must be a UUID' }]],
    [NOBODY, 404, undefined],
  ])('id %s is %i', async (id, status, errors) => {
    const org = await app.makeOrg()
    const answer = await org.call('GET', `/workflows/${id}`)
    expect([answer.status, answer.body.errors]).toEqual([status, errors])
  })

  it('an id in capitals is the same id; a child sheet is no workflow', async () => {
    const org = await app.makeOrg()
    const id = await create(org)
    const child = (await org.call('POST', `/workflows/${id}/sheets`, { name: 'c' })).body.data.sheet_id
    expect((await overview(org, id.toUpperCase())).workflow_id).toBe(id)
    expect((await org.call('GET', `/workflows/${child}`)).status).toBe(404)
  })
})

describe('4.2 Rename Workflow', () => {
  it("any caller with access may rename; the main sheet's tab keeps its name", async () => {
    const org = await app.makeOrg()
    const id = await create(org, 'Old')
    const bob = await org.keyFor('bob@example.com', 'member')
    await share(org, id, 'bob@example.com')
    const { status, body } = await app.call(bob, 'PATCH', `/workflows/${id}/name`, { name: ' New ' })
    expect([status, body]).toEqual([200, { status: 200, data: { workflow_id: id, name: 'New' } }])
    const after = await overview(org, id)
    expect([after.name, after.sheets[0].name]).toEqual(['New', 'Old'])
    expect(await auditOf(org)).toContainEqual(['workflow.renamed', id, { name: 'New' }])
  })
})

describe('4.2 Delete Workflow', () => {
  it('{workflow_id, deleted: true}; its ids are 404 afterwards and what it held is left to a purge', async () => {
    const org = await app.makeOrg()
    const id = await create(org, 'Doomed')
    const child = (await org.call('POST', `/workflows/${id}/sheets`, { name: 'c' })).body.data.sheet_id
    await org.call('POST', `/workflows/${id}/sheets/${id}/inputs`, [{ name: 'a', type: 'string' }])
    await org.call('POST', `/workflows/${id}/sheets/${id}/rows`, { rows: [{ a: '1' }, { a: '2' }] })
    const { status, body } = await org.call('DELETE', `/workflows/${id}`)
    expect([status, body]).toEqual([200, { status: 200, data: { workflow_id: id, deleted: true } }])
    for (const [method, path] of [
      ['GET', `/workflows/${id}`],
      ['DELETE', `/workflows/${id}`],
      ['POST', `/workflows/${id}/duplicate`],
      ['POST', `/workflows/${child}/duplicate`],
      ['GET', `/workflows/${id}/sheets/${id}/inputs`],
      ['GET', `/workflows/${id}/sheets/${child}/inputs`],
    ] as const) {
      expect([method, path, (await org.call(method, path)).status]).toEqual([method, path, 404])
    }
    expect(await listed(org.key)).toEqual([])
    const purges = await app.store.system
      .selectFrom('purges')
      .select(['sheet_id', 'below_seq'])
      .where('org_id', '=', org.orgId)
      .orderBy('sheet_id')
      .execute()
    expect(purges).toEqual([
      { sheet_id: id, below_seq: 3 },
      { sheet_id: child, below_seq: 1 },
    ])
    expect(await auditOf(org)).toContainEqual(['workflow.deleted', id, { name: 'Doomed' }])
  })

  it('owner only: an admin and a member it is shared with get 403', async () => {
    const org = await app.makeOrg()
    const owner = await org.keyFor('owner@example.com', 'member')
    const bob = await org.keyFor('bob@example.com', 'member')
    const id = (await app.call(owner, 'POST', '/workflows/', { name: 'W' })).body.data.workflow_id
    await share(org, id, 'bob@example.com')
    for (const key of [org.key, bob]) {
      const { status, body } = await app.call(key, 'DELETE', `/workflows/${id}`)
      expect([status, body.error, body.message]).toEqual([403, 'Forbidden', expect.stringContaining('owner')])
    }
    expect((await app.call(owner, 'DELETE', `/workflows/${id}`)).status).toBe(200)
  })

  it('D47: when the owner has been removed, admins act as owner', async () => {
    const org = await app.makeOrg()
    const owner = await org.keyFor('owner@example.com', 'member')
    const bob = await org.keyFor('bob@example.com', 'member')
    const id = (await app.call(owner, 'POST', '/workflows/', { name: 'W' })).body.data.workflow_id
    await share(org, id, 'bob@example.com')
    await org.call('DELETE', '/org/members?email=owner@example.com')
    expect((await overview(org, id)).is_owner).toBe(true)
    expect((await overview(org, id)).shared_users).toEqual(['bob@example.com'])
    expect((await app.call(bob, 'DELETE', `/workflows/${id}`)).status).toBe(403)
    expect((await org.call('DELETE', `/workflows/${id}`)).status).toBe(200)
  })

  it('while others change it: every answer is a success or 404, and nothing living stays behind', async () => {
    const org = await app.makeOrg()
    const id = await create(org)
    const child = (await org.call('POST', `/workflows/${id}/sheets`, { name: 'c' })).body.data.sheet_id
    const answers = await Promise.all([
      ...[1, 2, 3].flatMap((n) => [
        org.call('POST', `/workflows/${id}/sheets`, { name: `s${n}` }),
        org.call('POST', `/workflows/${id}/sheets/${child}/inputs`, [{ name: `i${n}`, type: 'string' }]),
        org.call('PATCH', `/workflows/${id}/sheets/${child}/name`, { name: `c${n}` }),
        org.call('POST', `/workflows/${child}/duplicate`, { name: `d${n}` }),
      ]),
      org.call('DELETE', `/workflows/${id}`),
      org.call('DELETE', `/workflows/${id}/sheets/${child}`),
      org.call('PATCH', `/workflows/${id}/name`, { name: 'n' }),
    ])
    expect(answers.filter(({ status }) => ![200, 201, 404].includes(status))).toEqual([])
    const living = await app.store.system
      .selectFrom('sheets')
      .select('sheet_id')
      .where('workflow_id', '=', id)
      .where('deleted_at', 'is', null)
      .execute()
    expect(living).toEqual([])
  })
})

describe('updated_at is the latest configuration change', async () => {
  const org = await app.makeOrg()
  const id = await create(org)
  const main = `/workflows/${id}/sheets/${id}`
  const child = (await org.call('POST', `/workflows/${id}/sheets`, { name: 'c' })).body.data.sheet_id
  it.each<[string, string, unknown, boolean]>([
    ['PATCH', `/workflows/${id}/name`, { name: 'new' }, true],
    ['POST', `/workflows/${id}/sheets`, { name: 'new' }, true],
    ['PATCH', main, { cache_enabled: true }, true],
    ['PATCH', `${main}/name`, { name: 'new' }, true],
    ['POST', `${main}/inputs`, [{ name: 'a', type: 'string' }], true],
    ['DELETE', `${main}/inputs/a`, undefined, true],
    ['POST', `/workflows/${child}/duplicate`, { name: 'new' }, true],
    ['DELETE', `/workflows/${id}/sheets/${child}`, undefined, true],
    ['POST', `/workflows/${id}/duplicate`, { name: 'new' }, false],
    ['GET', `/workflows/${id}`, undefined, false],
    ['GET', `${main}/inputs`, undefined, false],
    ['PATCH', main, {}, false],
    ['DELETE', `${main}/inputs/a`, undefined, false],
  ])('%s %s %j', async (method, path, body, changes) => {
    await app.store.system
      .updateTable('workflows')
      .set({ updated_at: new Date(0) })
      .where('workflow_id', '=', id)
      .execute()
    const called = Date.now()
    await org.call(method, path, body)
    const updated = Date.parse((await overview(org, id)).updated_at)
    expect(updated === 0 || updated >= called).toBe(true)
    expect(updated !== 0).toBe(changes)
  })
})
