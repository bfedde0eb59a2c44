import { describe, expect, it } from 'vitest'
import type { Definition } from '#server/catalog/chain/definition.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { editDefinition } from '#server/sheets/store/definitions.ts'
import { findSheet, type SheetRecord } from '#server/sheets/store/sheets.ts'
import { setSharing } from '#server/sheets/workflows.ts'
import { type Json, makeApp, type TestOrg } from '#test/plumbing/harness.ts'

const app = await makeApp()

const create = async (org: TestOrg, name = 'Leads'): Promise<string> =>
  (await org.call('POST', '/workflows/', { name })).body.data.workflow_id
const overview = async (org: TestOrg, id: string): Promise<Json> =>
  (await org.call('GET', `/workflows/${id}`)).body.data
const share = (org: TestOrg, workflowId: string, email: string) =>
  setSharing(app.store.system, OPERATOR, { orgId: org.orgId, workflowId, email }, true)

async function sheetOf(org: TestOrg, id: string): Promise<SheetRecord> {
  const sheet = await findSheet(app.store.system, org.orgId, id)
  if (sheet === undefined) throw new Error(`no sheet ${id}`)
  return sheet
}

/** Stores a chain directly, without the endpoints of actions. */
async function define(org: TestOrg, sheetId: string, definition: Definition, serials = {}): Promise<void> {
  const sheet = await sheetOf(org, sheetId)
  await app.store.system.transaction().execute((trx) =>
    editDefinition(trx, OPERATOR, sheet, () => ({
      definition,
      nextColumn: 8,
      actionSerials: serials,
      result: null,
    })),
  )
}

async function definitionOf(org: TestOrg, sheetId: string): Promise<Definition> {
  const { revision } = await sheetOf(org, sheetId)
  const found = await app.store.system
    .selectFrom('chain_revisions')
    .select('definition')
    .where('sheet_id', '=', sheetId)
    .where('revision', '=', revision)
    .executeTakeFirstOrThrow()
  return found.definition
}

const CHAIN = (targets: { self: string; child: string; elsewhere: string }): Definition => ({
  inputs: [
    { column: 3, name: 'Email', type: 'email', description: 'work' },
    { column: 7, name: '__proto__', type: 'string', description: '' },
  ],
  actions: [
    {
      id: 'send_to_sheet_2',
      action_id: 'send_to_sheet',
      display_name: 'Fan out',
      inputs: {
        target_sheet_id: targets.child,
        expand_from: '{{find_people_1.people}}',
        field_mapping: [{ name: 'Email', value: '{{input.Email}}', label: targets.self }],
        fallback: { target_sheet_id: targets.elsewhere, deep: [targets.child, `see ${targets.child}`] },
      },
      run_if: { conditions: [{ conditions: [{ variable: '{{input.Email}}', operator: 'is not empty' }] }] },
      continue_workflow_if_action_fails: true,
      note: 'why',
      epoch: 4,
    },
  ],
})

describe('4.2 Duplicate Workflow', () => {
  it('copies inputs, actions with configuration and reference wiring, and child sheets; rewires inner targets (D46)', async () => {
    const org = await app.makeOrg()
    const id = await create(org, 'Tab of main')
    const elsewhere = await create(org, 'Elsewhere')
    const settings = { auto_run: true, cache_enabled: true, cache_since: '2024-02-29' }
    const child = (await org.call('POST', `/workflows/${id}/sheets`, { name: 'Second', ...settings })).body
      .data.sheet_id
    await org.call('POST', `/workflows/${id}/sheets`, { name: 'Third' })
    const gone = (await org.call('POST', `/workflows/${id}/sheets`, { name: 'Gone' })).body.data.sheet_id
    await org.call('DELETE', `/workflows/${id}/sheets/${gone}`)
    const source = CHAIN({ self: id, child: child.toUpperCase(), elsewhere })
    await define(org, id, source, { send_to_sheet: 2 })
    await org.call('PATCH', `/workflows/${id}/name`, { name: 'Renamed since' })
    await app.store.system
      .updateTable('sheets')
      .set({ continue_on_fail: true })
      .where('sheet_id', '=', child)
      .execute()
    await org.keyFor('bob@example.com', 'member')
    await share(org, id, 'bob@example.com')
    await org.call('POST', `/workflows/${id}/sheets/${id}/rows`, { rows: [{ Email: 'a@b.c' }] })
    const before = await overview(org, id)

    const { status, body } = await org.call('POST', `/workflows/${id}/duplicate`, { name: ' Copy ' })
    expect([status, body]).toEqual([
      201,
      { status: 201, data: { workflow_id: expect.any(String), name: 'Copy' } },
    ])
    const copyId: string = body.data.workflow_id
    const copy = await overview(org, copyId)
    expect(copy).toMatchObject({ name: 'Copy', is_owner: true, shared_users: [], last_run_at: null })
    const strip = (sheets: Json[]) => sheets.map(({ sheet_id: _id, ...sheet }) => sheet)
    expect(strip(copy.sheets)).toEqual(strip(before.sheets))
    expect(copy.sheets.map((sheet: Json) => sheet.name)).toEqual(['Tab of main', 'Second', 'Third'])
    expect(copy.sheets[0].sheet_id).toBe(copyId)
    const copiedChild: string = copy.sheets[1].sheet_id
    expect([child, id]).not.toContain(copiedChild)

    const expected = CHAIN({ self: copyId, child: copiedChild, elsewhere })
    const [action] = expected.actions
    if (action === undefined) throw new Error('the chain has an action')
    action.epoch = 0
    action.inputs['fallback'] = {
      target_sheet_id: elsewhere,
      deep: [copiedChild, `see ${child.toUpperCase()}`],
    }
    expect(await definitionOf(org, copyId)).toEqual(expected)
    expect(await sheetOf(org, copyId)).toMatchObject({
      revision: 1,
      next_column: 8,
      action_serials: { send_to_sheet: 2 },
    })
    expect((await sheetOf(org, copiedChild)).continue_on_fail).toBe(true)

    expect(await overview(org, id)).toEqual(before)
    expect(await definitionOf(org, id)).toEqual(source)
    const rows = await app.store.system
      .selectFrom('rows')
      .select('row_id')
      .where('sheet_id', '=', copyId)
      .execute()
    expect(rows).toEqual([])
    const audit = await app.store.system
      .selectFrom('audit_entries')
      .select('details')
      .where('action', '=', 'workflow.duplicated')
      .where('target', '=', copyId)
      .execute()
    expect(audit).toEqual([{ details: { name: 'Copy', source: id } }])
  })

  it('the copy is owned by the caller', async () => {
    const org = await app.makeOrg()
    const id = await create(org)
    await org.call('POST', `/workflows/${id}/sheets`, { name: 'Child' })
    const bob = await org.keyFor('bob@example.com', 'member')
    await share(org, id, 'bob@example.com')
    const copyId = (await app.call(bob, 'POST', `/workflows/${id}/duplicate`, { name: 'C' })).body.data
      .workflow_id
    const copy = (await app.call(bob, 'GET', `/workflows/${copyId}`)).body.data
    expect(copy.is_owner).toBe(true)
    expect((await overview(org, copyId)).is_owner).toBe(false)
    const path = `/workflows/${copyId}/sheets/${copy.sheets[1].sheet_id}`
    expect((await org.call('DELETE', path)).status).toBe(403)
    expect((await app.call(bob, 'DELETE', path)).status).toBe(200)
  })

  it('if the source id is a child sheet, the copy stays attached to the same parent workflow (D46)', async () => {
    const org = await app.makeOrg()
    const id = await create(org)
    const [child, other] = await Promise.all(
      ['Child', 'Other'].map(
        async (name) =>
          (await org.call('POST', `/workflows/${id}/sheets`, { name })).body.data.sheet_id as string,
      ),
    )
    if (child === undefined || other === undefined) throw new Error('two sheets were made')
    await define(org, child, CHAIN({ self: child, child: other, elsewhere: id }))
    const before = await overview(org, id)
    const { status, body } = await org.call('POST', `/workflows/${child}/duplicate`, { name: 'Twin' })
    expect([status, body.data.name]).toEqual([201, 'Twin'])
    const after = await overview(org, id)
    expect(after.sheets.slice(0, 3)).toEqual(before.sheets)
    expect(after.sheets[3]).toMatchObject({
      sheet_id: body.data.workflow_id,
      name: 'Twin',
      is_main_sheet: false,
    })
    const [action] = (await definitionOf(org, body.data.workflow_id)).actions
    expect(action?.inputs).toMatchObject({
      target_sheet_id: other,
      field_mapping: [{ label: body.data.workflow_id }],
      fallback: { target_sheet_id: id },
    })
    expect((await org.call('GET', '/workflows/')).body.data).toHaveLength(1)
    expect((await org.call('GET', `/workflows/${body.data.workflow_id}`)).status).toBe(404)
  })

  it('D13: a narrowed key cannot duplicate its workflow, but the child sheets inside it', async () => {
    const org = await app.makeOrg()
    const id = await create(org)
    const child = (await org.call('POST', `/workflows/${id}/sheets`, { name: 'c' })).body.data.sheet_id
    const key = await org.keyFor('narrow@example.com', 'admin', { allowedWorkflowIds: [id] })
    expect((await app.call(key, 'POST', `/workflows/${id}/duplicate`, { name: 'x' })).status).toBe(403)
    expect((await app.call(key, 'POST', `/workflows/${child}/duplicate`, { name: 'x' })).status).toBe(201)
    expect((await overview(org, id)).sheets).toHaveLength(3)
  })

  it('the child sheet of a workflow without access is refused as the workflow is', async () => {
    const [org, stranger] = [await app.makeOrg(), await app.makeOrg()]
    const [id, other] = [await create(org), await create(org)]
    const child = (await org.call('POST', `/workflows/${id}/sheets`, { name: 'c' })).body.data.sheet_id
    const narrowed = await org.keyFor('narrow@example.com', 'admin', { allowedWorkflowIds: [other] })
    const member = await org.keyFor('member@example.com', 'member')
    for (const [key, status] of [
      [stranger.key, 404],
      [narrowed, 403],
      [member, 403],
    ] as const) {
      expect((await app.call(key, 'POST', `/workflows/${child}/duplicate`, { name: 'x' })).status).toBe(
        status,
      )
    }
    expect((await overview(org, id)).sheets).toHaveLength(2)
  })

  it('D58: needs workflows:write', async () => {
    const org = await app.makeOrg()
    const id = await create(org)
    const key = await org.keyFor('reader@example.com', 'admin', { scopes: ['workflows:read'] })
    const { status, body } = await app.call(key, 'POST', `/workflows/${id}/duplicate`, { name: 'x' })
    expect([status, body.error]).toEqual([403, 'INSUFFICIENT_SCOPE'])
  })
})
