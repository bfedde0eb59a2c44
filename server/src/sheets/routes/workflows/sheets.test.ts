import { describe, expect, it } from 'vitest'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { setSharing } from '#server/sheets/workflows.ts'
import { type Json, makeApp, type TestOrg } from '#test/plumbing/harness.ts'

const app = await makeApp()
const NOBODY = '01890000-0000-7000-8000-000000000001'
const OFF = { auto_run: false, cache_enabled: false, cache_since: null }

type Made = { org: TestOrg; id: string; child: string; path: string }

const createSheet = async (org: TestOrg, id: string, body: unknown = { name: 'Child' }): Promise<string> =>
  (await org.call('POST', `/workflows/${id}/sheets`, body)).body.data.sheet_id

async function makeWorkflow(): Promise<Made> {
  const org = await app.makeOrg()
  const id: string = (await org.call('POST', '/workflows/', { name: 'Main' })).body.data.workflow_id
  const child = await createSheet(org, id)
  return { org, id, child, path: `/workflows/${id}/sheets/${child}` }
}

const roster = async ({ org, id }: Made): Promise<Json[]> =>
  (await org.call('GET', `/workflows/${id}`)).body.data.sheets

async function member({ org, id }: Made, email: string): Promise<string> {
  const key = await org.keyFor(email, 'member')
  await setSharing(app.store.system, OPERATOR, { orgId: org.orgId, workflowId: id, email }, true)
  return key
}

const lastAudit = async ({ org }: Made): Promise<unknown> =>
  app.store.system
    .selectFrom('audit_entries')
    .select(['actor', 'action', 'target', 'details'])
    .where('org_id', '=', org.orgId)
    .orderBy('entry_id', 'desc')
    .limit(1)
    .executeTakeFirst()

describe('4.3 Create Sheet', () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['D15: everything is off unless asked', {}, OFF],
    ['auto_run', { auto_run: true }, { ...OFF, auto_run: true }],
    [
      'cache',
      { cache_enabled: true, cache_since: '2024-02-29' },
      { ...OFF, cache_enabled: true, cache_since: '2024-02-29' },
    ],
    ['cache_since null', { cache_since: null }, OFF],
  ])('201 with exactly the fields of the table: %s', async (_what, settings, expected) => {
    const made = await makeWorkflow()
    const { org, id } = made
    const { status, body } = await org.call('POST', `/workflows/${id}/sheets`, { name: ' Tab ', ...settings })
    expect([status, body]).toEqual([
      201,
      { status: 201, data: { sheet_id: expect.any(String), workflow_id: id, name: 'Tab', ...expected } },
    ])
    const { sheet_id } = body.data
    const entry = { sheet_id, name: 'Tab', is_main_sheet: false, ...expected, webhook_url: null }
    expect((await roster(made)).at(-1)).toEqual(entry)
    expect(await lastAudit(made)).toEqual({
      actor: org.adminEmail,
      action: 'sheet.created',
      target: sheet_id,
      details: { name: 'Tab', ...settings, workflow_id: id },
    })
    expect((await org.call('GET', `/workflows/${id}/sheets/${sheet_id}/inputs`)).body.data).toEqual([])
  })

  it('names need not be unique in a workflow; sheets made at once all get a place', async () => {
    const made = await makeWorkflow()
    const ids = await Promise.all(Array.from({ length: 8 }, () => createSheet(made.org, made.id)))
    const sheets = await roster(made)
    expect(new Set(sheets.slice(2).map((sheet) => sheet.sheet_id))).toEqual(new Set(ids))
    const positions = await app.store.system
      .selectFrom('sheets')
      .select('position')
      .where('workflow_id', '=', made.id)
      .orderBy('position')
      .execute()
    expect(positions.map((sheet) => sheet.position)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  it('D13: a narrowed key may add a sheet to its workflow', async () => {
    const { org, id } = await makeWorkflow()
    const key = await org.keyFor('narrow@example.com', 'admin', { allowedWorkflowIds: [id] })
    expect((await app.call(key, 'POST', `/workflows/${id}/sheets`, { name: 'x' })).status).toBe(201)
  })
})

const NOT_A_DATE = 'must be a date in the form YYYY-MM-DD'

describe('settings that are not accepted', async () => {
  const made = await makeWorkflow()
  it.each<[Record<string, unknown>, string, string]>([
    [{ auto_run: 'true' }, 'auto_run', 'must be true or false'],
    [{ auto_run: null }, 'auto_run', 'must be true or false'],
    [{ cache_enabled: 1 }, 'cache_enabled', 'must be true or false'],
    [{ cache_since: '2023-02-29' }, 'cache_since', NOT_A_DATE],
    [{ cache_since: '2024-13-01' }, 'cache_since', NOT_A_DATE],
    [{ cache_since: '2024-1-1' }, 'cache_since', NOT_A_DATE],
    [{ cache_since: '2024-01-01T00:00:00Z' }, 'cache_since', NOT_A_DATE],
    [{ cache_since: '0000-01-01' }, 'cache_since', NOT_A_DATE],
    [{ cache_since: '' }, 'cache_since', NOT_A_DATE],
    [{ cache_since: 20_240_101 }, 'cache_since', 'must be a string'],
  ])('%j', async (settings, field, message) => {
    const before = await roster(made)
    for (const [method, path] of [
      ['POST', `/workflows/${made.id}/sheets`],
      ['PATCH', made.path],
    ] as const) {
      const { status, body } = await made.org.call(method, path, { name: 'x', ...settings })
      expect([method, status, body.errors]).toEqual([method, 400, [{ field, message }]])
    }
    expect(await roster(made)).toEqual(before)
  })

  it('every failure at once', async () => {
    const { body } = await made.org.call('POST', `/workflows/${made.id}/sheets`, {
      auto_run: 0,
      cache_since: 'soon',
    })
    expect(body.errors).toEqual([
      { field: 'name', message: 'required' },
      { field: 'auto_run', message: 'must be true or false' },
      { field: 'cache_since', message: NOT_A_DATE },
    ])
  })
})

describe('4.3 Update Sheet', () => {
  it('changes the fields that are sent, leaves the others, null clears; returns the full sheet', async () => {
    const made = await makeWorkflow()
    const { org, id, child, path } = made
    const expected: Json = {
      sheet_id: child,
      workflow_id: id,
      name: 'Child',
      is_main_sheet: false,
      ...OFF,
      continue_on_fail: false,
    }
    for (const change of [
      { auto_run: true },
      { cache_enabled: true, cache_since: '2024-01-31' },
      { cache_since: '0001-01-01' },
      { cache_since: '9999-12-31' },
      { cache_since: null },
      { auto_run: false, cache_enabled: false },
    ]) {
      Object.assign(expected, change)
      const { status, body } = await org.call('PATCH', path, change)
      expect([status, body]).toEqual([200, { status: 200, data: expected }])
      expect(await lastAudit(made)).toMatchObject({ action: 'sheet.updated', target: child, details: change })
    }
    expect((await roster(made))[0]).toMatchObject(OFF)
  })

  it('works on the main sheet, for any caller with access', async () => {
    const made = await makeWorkflow()
    const key = await member(made, 'bob@example.com')
    const { status, body } = await app.call(key, 'PATCH', `/workflows/${made.id}/sheets/${made.id}`, {
      auto_run: true,
    })
    expect([status, body.data]).toMatchObject([200, { is_main_sheet: true, auto_run: true }])
  })

  it.each<[unknown]>([[{}], [{ continue_on_fail: true }], [{ name: 'x', colour: 1 }]])(
    'at least one of the three fields: %j is 400',
    async (change) => {
      const { org, path } = await makeWorkflow()
      const { status, body } = await org.call('PATCH', path, change)
      const message = 'must have at least one of: auto_run, cache_enabled, cache_since'
      expect([status, body.errors]).toEqual([400, [{ field: 'body', message }]])
    },
  )

  it('a field that is not writable is ignored and warned about', async () => {
    const made = await makeWorkflow()
    const change = { auto_run: true, continue_on_fail: true, owner_id: NOBODY, name: 'x' }
    const { status, body } = await made.org.call('PATCH', made.path, change)
    expect([status, body.data.continue_on_fail, body.data.name]).toEqual([200, false, 'Child'])
    expect(body.warnings.map((warning: Json) => [warning.field, warning.code])).toEqual([
      ['continue_on_fail', 'unknown_field'],
      ['owner_id', 'unknown_field'],
      ['name', 'unknown_field'],
    ])
  })
})

describe('4.3 Rename Sheet', () => {
  it('any caller with access may rename; on the main sheet only the tab', async () => {
    const made = await makeWorkflow()
    const key = await member(made, 'bob@example.com')
    for (const sheet_id of [made.child, made.id]) {
      const path = `/workflows/${made.id}/sheets/${sheet_id}/name`
      const { status, body } = await app.call(key, 'PATCH', path, { name: ' Renamed ' })
      expect([status, body]).toEqual([
        200,
        { status: 200, data: { workflow_id: made.id, sheet_id, name: 'Renamed' } },
      ])
      expect(await lastAudit(made)).toEqual({
        actor: 'bob@example.com',
        action: 'sheet.renamed',
        target: sheet_id,
        details: { name: 'Renamed' },
      })
    }
    expect((await made.org.call('GET', `/workflows/${made.id}`)).body.data.name).toBe('Main')
  })
})

describe('an unknown sheet or a sheet of another workflow', () => {
  it.each<[string, string, unknown]>([
    ['PATCH', '', { auto_run: true }],
    ['PATCH', '/name', { name: 'x' }],
    ['DELETE', '', undefined],
    ['GET', '/inputs', undefined],
    ['POST', '/inputs', [{ name: 'a', type: 'string' }]],
    ['DELETE', '/inputs/a', undefined],
  ])('%s sheet%s is 404, a malformed id 400', async (method, suffix, body) => {
    const { org, id } = await makeWorkflow()
    const other = (await org.call('POST', '/workflows/', { name: 'Other' })).body.data.workflow_id
    const cousin = await createSheet(org, other)
    for (const sheetId of [NOBODY, cousin, other]) {
      const answer = await org.call(method, `/workflows/${id}/sheets/${sheetId}${suffix}`, body)
      expect([answer.status, answer.body]).toEqual([
        404,
        { status: 404, error: 'Not Found', message: 'Sheet not found' },
      ])
    }
    const malformed = await org.call(method, `/workflows/x/sheets/y${suffix}`, body)
    expect([malformed.status, malformed.body.errors.map((error: Json) => error.field)]).toEqual([
      400,
      ['workflow_id', 'sheet_id'],
    ])
  })
})

describe('4.3 Delete Sheet', () => {
  it('{workflow_id, sheet_id, deleted: true}; 404 afterwards; the content is left to a purge', async () => {
    const made = await makeWorkflow()
    const { org, id, child, path } = made
    await org.call('POST', `${path}/inputs`, [{ name: 'a', type: 'string' }])
    await org.call('POST', `${path}/rows`, { rows: [{ a: 1 }, { a: 2 }, { a: 3 }] })
    const { status, body } = await org.call('DELETE', path)
    expect([status, body]).toEqual([
      200,
      { status: 200, data: { workflow_id: id, sheet_id: child, deleted: true } },
    ])
    expect(await lastAudit(made)).toMatchObject({
      action: 'sheet.deleted',
      target: child,
      details: { name: 'Child' },
    })
    expect(await roster(made)).toHaveLength(1)
    for (const method of ['DELETE', 'PATCH']) expect((await org.call(method, path)).status).toBe(404)
    const purges = await app.store.system
      .selectFrom('purges')
      .select(['sheet_id', 'below_seq'])
      .where('org_id', '=', org.orgId)
      .execute()
    expect(purges).toEqual([{ sheet_id: child, below_seq: 4 }])
  })

  it('a purge that waits already is raised, never lowered', async () => {
    const { org, child, path } = await makeWorkflow()
    const of = { org_id: org.orgId, sheet_id: child }
    await app.store.system
      .insertInto('purges')
      .values({ ...of, below_seq: 9000 })
      .execute()
    await org.call('DELETE', path)
    const purges = await app.store.system
      .selectFrom('purges')
      .select('below_seq')
      .where('sheet_id', '=', child)
      .execute()
    expect(purges).toEqual([{ below_seq: 9000 }])
  })

  it('the main sheet cannot be deleted: 400, for anybody with access', async () => {
    const made = await makeWorkflow()
    const key = await member(made, 'bob@example.com')
    for (const caller of [made.org.key, key]) {
      const { status, body } = await app.call(caller, 'DELETE', `/workflows/${made.id}/sheets/${made.id}`)
      expect([status, body.errors]).toEqual([
        400,
        [{ field: 'sheet_id', message: expect.stringContaining('main sheet cannot be deleted') }],
      ])
    }
  })

  it('deleting twice at once succeeds once', async () => {
    const { org, path } = await makeWorkflow()
    const answers = await Promise.all([org.call('DELETE', path), org.call('DELETE', path)])
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200, 404]))
  })
})

describe('D58, D47: who may delete a child sheet', async () => {
  const org = await app.makeOrg()
  const keys: Record<string, string> = { admin: org.key }
  for (const name of ['owner', 'creator', 'other'])
    keys[name] = await org.keyFor(`${name}@example.com`, 'member')

  it.each([
    ['its creator', 'creator', [], 200],
    ["the workflow's owner", 'owner', [], 200],
    ['another member with access', 'other', [], 403],
    ['an admin', 'admin', [], 403],
    ['an admin, when the creator was removed', 'admin', ['creator'], 200],
    ['an admin, when the workflow has lost its owner', 'admin', ['owner'], 200],
    ["the workflow's owner, when the creator was removed", 'owner', ['creator'], 200],
    ['another member, when both were removed', 'other', ['creator', 'owner'], 403],
  ])('%s', async (_what, who, removed, status) => {
    const call = (name: string, method: string, path: string, body?: unknown) =>
      app.call(keys[name] ?? '', method, path, body)
    const id = (await call('owner', 'POST', '/workflows/', { name: 'W' })).body.data.workflow_id
    const with_ = { orgId: org.orgId, workflowId: id }
    for (const name of ['creator', 'other']) {
      await setSharing(app.store.system, OPERATOR, { ...with_, email: `${name}@example.com` }, true)
    }
    const child = (await call('creator', 'POST', `/workflows/${id}/sheets`, { name: 'c' })).body.data.sheet_id
    for (const name of removed) await org.call('DELETE', `/org/members?email=${name}@example.com`)
    const answer = await call(who, 'DELETE', `/workflows/${id}/sheets/${child}`)
    expect([answer.status, answer.body.error]).toEqual([status, status === 403 ? 'Forbidden' : undefined])
    for (const name of removed) keys[name] = await org.keyFor(`${name}@example.com`, 'member')
  })
})
