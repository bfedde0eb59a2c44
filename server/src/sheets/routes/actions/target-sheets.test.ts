import { describe, expect, it } from 'vitest'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { setSharing } from '#server/sheets/workflows.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'

const app = await makeApp()
const org = await app.makeOrg()
const other = await app.makeOrg()
const bob = await org.keyFor('bob@example.com', 'member')
const NOBODY = '01890000-0000-7000-8000-000000000001'

/** Creates a workflow of the key's owner with the input `name` and returns its id, which is also the id of its sheet. */
async function make(key: string): Promise<string> {
  const id: string = (await app.call(key, 'POST', '/workflows', { name: 'W' })).body.data.workflow_id
  await app.call(key, 'POST', `/workflows/${id}/sheets/${id}/inputs`, [{ name: 'name', type: 'string' }])
  return id
}
const pathOf = (id: string) => `/workflows/${id}/sheets/${id}`
const share = (workflowId: string, shared = true) =>
  setSharing(app.store.system, OPERATOR, { orgId: org.orgId, workflowId, email: 'bob@example.com' }, shared)

const sending = (target_sheet_id: string) => ({
  action_id: 'send_to_sheet',
  inputs: { target_sheet_id, field_mapping: [{ name: 'name', value: '{{input.name}}' }] },
})
const add = (key: string, to: string, body: object) =>
  app.call(key, 'POST', `${pathOf(to)}/actions/add`, body)
const DENIED = { field: 'inputs.target_sheet_id', message: 'you have no access to this sheet' }

describe('D36: the target of send_to_sheet is in the same organisation, with access; when it is configured', () => {
  it('a sheet that the caller has no access to is refused, and nothing is saved', async () => {
    const [mine, theirs] = [await make(bob), await make(org.key)]
    const refused = await add(bob, mine, { ...sending(theirs), after: 'nothing' })
    expect([refused.status, refused.body.errors]).toEqual([
      400,
      [{ field: 'after', message: expect.any(String) }, DENIED],
    ])
    const unknown = { ...sending(theirs), name: 5 }
    expect((await add(bob, mine, unknown)).body.errors).toEqual([
      { field: 'name', message: expect.any(String) },
      DENIED,
    ])
    expect((await app.call(bob, 'GET', `${pathOf(mine)}/actions/graph`)).body.data).toHaveLength(1)
    await share(theirs)
    expect(await add(bob, mine, sending(theirs))).toMatchObject({ status: 201, body: { warnings: [] } })
  })

  it('D90: a mapping to an input that the target does not have warns, when it is added and when it is configured', async () => {
    const [from, to] = [await make(org.key), await make(org.key)]
    const field_mapping = [
      { name: 'Name', value: '{{input.name}}' },
      { name: 'name', value: 'x' },
      { name: '{{input.name}}', value: 'x' },
      { name: 'name.first', value: 'x' },
    ]
    const unknown = {
      field: 'inputs.field_mapping[0].name',
      code: 'unknown_input',
      message: expect.stringMatching(/^the sheet has no input "Name".*name/),
    }
    const path = { field: 'inputs.field_mapping[3].name', code: 'unknown_input' }
    const body = { action_id: 'send_to_sheet', inputs: { target_sheet_id: to, field_mapping } }
    const added = await add(org.key, from, body)
    expect([added.status, added.body.warnings]).toMatchObject([201, [unknown, path]])
    const at = `${pathOf(from)}/actions/${added.body.data.action_instance_id}`
    expect((await app.call(org.key, 'PATCH', at, { inputs: { field_mapping } })).body.warnings).toMatchObject(
      [unknown, path],
    )
    const mended = { inputs: { field_mapping: field_mapping.slice(1, 2) } }
    expect((await app.call(org.key, 'PATCH', at, mended)).body.warnings).toEqual([])

    const conditions = [
      {
        conditions: ['{{input.name}}', '{{input.nam}}'].map((variable) => ({
          variable,
          operator: 'is empty',
        })),
      },
    ]
    const lookup = { action_id: 'lookup_rows_in_sheet', inputs: { target_sheet_id: to, conditions } }
    expect((await add(org.key, from, lookup)).body.warnings).toMatchObject([
      { field: 'inputs.conditions[0].conditions[1].variable', code: 'unknown_input' },
    ])
  })

  it('a key that is narrowed to certain workflows reaches no other through an action', async () => {
    const [inside, outside] = [await make(org.key), await make(org.key)]
    const narrow = await org.keyFor(org.adminEmail, 'admin', { allowedWorkflowIds: [inside] })
    const lookup = { action_id: 'lookup_rows_in_sheet', inputs: { target_sheet_id: outside } }
    expect((await add(narrow, inside, lookup)).body.errors).toEqual([DENIED])
    expect((await add(narrow, inside, sending(inside))).status).toBe(201)
  })

  it('a sheet chosen by a member with access stays when others change the rest', async () => {
    const [shared, secret] = [await make(org.key), await make(org.key)]
    await share(shared)
    const { action_instance_id } = (await add(org.key, shared, sending(secret))).body.data
    const patch = (inputs: object) =>
      app.call(bob, 'PATCH', `${pathOf(shared)}/actions/${action_instance_id}`, { inputs })
    expect((await patch({ field_mapping: [] })).status).toBe(200)
    expect((await patch({ target_sheet_id: secret })).status).toBe(200)
    expect((await patch({ target_sheet_id: shared })).status).toBe(200)
    expect((await patch({ target_sheet_id: secret })).body.errors).toEqual([DENIED])
  })

  it.each([
    ['nothing', async () => NOBODY],
    ["another organisation's sheet", () => make(other.key)],
    ['no id', async () => 'Leads'],
  ])('one that names %s is warned about, as other names of nothing are', async (_what, target) => {
    const mine = await make(bob)
    const value = await target()
    const added = await add(bob, mine, sending(value))
    const warnings = [
      {
        field: 'inputs.target_sheet_id',
        code: 'unresolved_reference',
        message: `there is no sheet ${value}`,
        text: `Sheet: there is no sheet ${value}`,
      },
    ]
    expect([added.status, added.body.warnings]).toEqual([201, warnings])
    const path = `${pathOf(mine)}/actions/${added.body.data.action_instance_id}`
    expect((await app.call(bob, 'GET', path)).body.warnings).toEqual(warnings)
    const token = { inputs: { target_sheet_id: '{{input.name}}' } }
    expect((await app.call(bob, 'PATCH', path, token)).body.warnings).toEqual([])
  })
})

describe("D36: when it runs, the owner of the sender's workflow must have access", () => {
  it('as admin, as owner or by sharing; else the cell fails and no row lands', async () => {
    const work = await startTestWorker(app)
    const [mine, own, theirs] = [await make(bob), await make(bob), await make(org.key)]
    await app.call(bob, 'POST', `${pathOf(mine)}/inputs`, [{ name: 'target', type: 'string' }])
    await add(bob, mine, sending('{{input.target}}'))
    const landed = async (id: string) =>
      (await app.call(org.key, 'POST', `${pathOf(id)}/rows/list`, {})).body.data.total_count
    const send = async (target: string, from = mine): Promise<Json> => {
      const rows = [{ name: 'Ann', target }]
      const added = await org.call('POST', `${pathOf(from)}/rows`, { rows, run_after_add: 'all' })
      const settled = await settledRows(org, pathOf(from))
      return settled.find((row) => row.row_id === added.body.data.row_ids[0])?.cells['send_to_sheet_1']
    }
    expect(await send(own)).toMatchObject({ status: 'complete' })
    expect(await send(mine)).toMatchObject({ status: 'complete' })
    for (const target of [theirs, await make(other.key), NOBODY]) {
      expect(await send(target)).toMatchObject({ status: 'failed', error: expect.stringContaining(target) })
    }
    await share(theirs)
    expect(await send(theirs)).toMatchObject({ status: 'complete' })
    await share(theirs, false)
    expect(await send(theirs)).toMatchObject({ status: 'failed' })
    expect([await landed(own), await landed(theirs)]).toEqual([1, 1])

    const admins = await make(org.key)
    await org.call('POST', `${pathOf(admins)}/inputs`, [{ name: 'target', type: 'string' }])
    await add(org.key, admins, sending('{{input.target}}'))
    expect(await send(own, admins)).toMatchObject({ status: 'complete' })
    // D47: after the owner was removed, admins act as owner.
    await org.call('DELETE', '/org/members?email=bob@example.com')
    expect(await send(theirs)).toMatchObject({ status: 'complete' })
    await work.stop()
  })
})
