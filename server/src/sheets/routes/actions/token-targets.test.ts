import { describe, expect, it } from 'vitest'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { switchWebhookOn } from '#server/runs/webhooks/webhooks.ts'
import { setSharing } from '#server/sheets/workflows.ts'
import { type Json, makeApp, type TestOrg } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'

const app = await makeApp()
const pathOf = (id: string) => `/workflows/${id}/sheets/${id}`

type Setting = Awaited<ReturnType<typeof makeSetting>>

/** Creates an admin's workflow that is shared with bob, a member, and another admin's workflow that is not. */
async function makeSetting(configuredBy: 'admin' | 'bob' = 'admin') {
  const org = await app.makeOrg()
  const bob = await org.keyFor('bob@example.com', 'member')
  const [shared, secret] = [await makeWorkflow(org, org.key), await makeWorkflow(org, org.key)]
  await share(org, shared)
  const key = configuredBy === 'bob' ? bob : org.key
  const added = await add(key, shared, sending('{{input.target}}'))
  expect(added).toMatchObject({ status: 201, body: { warnings: [] } })
  return { org, bob, shared, secret }
}

async function makeWorkflow(org: TestOrg, key: string): Promise<string> {
  const id: string = (await app.call(key, 'POST', '/workflows', { name: 'W' })).body.data.workflow_id
  const inputs = ['name', 'target'].map((name) => ({ name, type: 'string' }))
  await org.call('POST', `${pathOf(id)}/inputs`, inputs)
  return id
}

const share = (org: TestOrg, workflowId: string, shared = true) =>
  setSharing(app.store.system, OPERATOR, { orgId: org.orgId, workflowId, email: 'bob@example.com' }, shared)

const sending = (target_sheet_id: string) => ({
  action_id: 'send_to_sheet',
  inputs: {
    target_sheet_id,
    field_mapping: [
      { name: 'name', value: '{{input.name}}' },
      { name: 'target', value: '{{input.target}}' },
    ],
  },
})
const add = (key: string, to: string, body: object) =>
  app.call(key, 'POST', `${pathOf(to)}/actions/add`, body)

/** Adds one row and starts its run, while no worker is running. */
async function start(key: string, from: string, target: string, run_after_add = 'all'): Promise<void> {
  const rows = [{ name: 'Ann', target }]
  const added = await app.call(key, 'POST', `${pathOf(from)}/rows`, { rows, run_after_add })
  expect([added.status, added.body.data.rows_queued_for_run]).toEqual([201, 1])
}

/** Lets a worker run the enqueued rows and returns the cell of each row of the sheet. */
async function work(org: TestOrg, sheet: string, action = 'send_to_sheet_1'): Promise<Json[]> {
  const worker = await startTestWorker(app)
  const rows = await settledRows(org, pathOf(sheet))
  await worker.stop()
  return rows.map((row) => row.cells[action])
}

const landed = async ({ org, secret }: Pick<Setting, 'org' | 'secret'>): Promise<number> =>
  (await org.call('POST', `${pathOf(secret)}/rows/list`, {})).body.data.total_count

const refusalOf = (target: string) => ({
  status: 'failed',
  error: `there is no sheet ${target} that the owner of this workflow, and the members who configured the action and started the run, may use`,
})

describe('D36: a target that comes from a token is within the reach of the member who started the run', () => {
  it('a member reaches no workflow that they have no access to, although its owner may; the owner does', async () => {
    const setting = await makeSetting()
    const { org, bob, shared, secret } = setting
    await start(bob, shared, secret)
    await start(org.key, shared, secret)
    expect(await work(org, shared)).toMatchObject([refusalOf(secret), { status: 'complete' }])
    expect(await landed(setting)).toBe(1)
    await share(org, secret)
    await start(bob, shared, secret)
    expect((await work(org, shared))[2]).toMatchObject({ status: 'complete' })
  })

  it('no member reaches another organisation', async () => {
    const { org, shared } = await makeSetting()
    const foreign = await makeSetting()
    await start(org.key, shared, foreign.secret)
    expect(await work(org, shared)).toMatchObject([refusalOf(foreign.secret)])
    expect(await landed(foreign)).toBe(0)
  })

  it('a key with allowed_workflow_ids reaches none but those, by a lookup or by rows that run on arrival', async () => {
    const setting = await makeSetting()
    const { org, shared, secret } = setting
    const narrow = await org.keyFor(org.adminEmail, 'admin', { allowedWorkflowIds: [shared] })
    const conditions = [{ conditions: [{ variable: '{{input.name}}', operator: 'is not empty' }] }]
    const lookup = { target_sheet_id: '{{input.target}}', conditions }
    await org.call('POST', `${pathOf(secret)}/rows`, { rows: [{ name: 'hidden' }] })
    await org.call('PATCH', pathOf(shared), { auto_run: true })
    const goOn = { continue_workflow_if_action_fails: true }
    await org.call('PATCH', `${pathOf(shared)}/actions/send_to_sheet_1`, goOn)
    await add(org.key, shared, { action_id: 'lookup_rows_in_sheet', inputs: lookup })
    await start(narrow, shared, secret, 'none')
    await start(org.key, shared, secret, 'none')
    expect(await work(org, shared)).toMatchObject([refusalOf(secret), { status: 'complete' }])
    expect(await work(org, shared, 'lookup_rows_in_sheet_1')).toMatchObject([
      refusalOf(secret),
      { status: 'complete', outputs: { records: [{ name: 'hidden' }, { name: 'Ann' }] } },
    ])
    expect(await landed(setting)).toBe(2)
  })

  it('also where the key was narrowed, the sharing ended or the member was removed after the start', async () => {
    const setting = await makeSetting()
    const { org, bob, shared, secret } = setting
    const narrowed = await org.keyFor(org.adminEmail, 'admin', { allowedWorkflowIds: [shared, secret] })
    await start(narrowed, shared, secret)
    await app.store.system
      .updateTable('api_keys')
      .set({ allowed_workflow_ids: [shared] })
      .where('org_id', '=', org.orgId)
      .where('allowed_workflow_ids', 'is not', null)
      .execute()
    await share(org, secret)
    await start(bob, shared, secret)
    await share(org, secret, false)
    const removed = await org.keyFor('eve@example.com', 'admin')
    await start(removed, shared, secret)
    expect((await org.call('DELETE', '/org/members?email=eve@example.com')).status).toBe(200)
    const refusal = refusalOf(secret)
    expect(await work(org, shared)).toMatchObject([refusal, refusal, refusal])
    expect(await landed(setting)).toBe(0)
  })

  it('a run keeps the reach of the member who started it when rows are sent on to a sheet that runs them on arrival', async () => {
    const setting = await makeSetting()
    const { org, bob, shared, secret } = setting
    await org.call('PATCH', pathOf(shared), { auto_run: true })
    const own = await makeWorkflow(org, bob)
    await add(bob, own, sending(shared))
    await start(bob, own, secret)
    expect(await work(org, own)).toMatchObject([{ status: 'complete' }])
    expect(await work(org, shared)).toMatchObject([refusalOf(secret)])
    expect(await landed(setting)).toBe(0)
  })
})

describe('D36: a target that comes from a token is within the reach of the member who configured it', () => {
  async function deliver({ org, shared, secret }: Setting): Promise<void> {
    const sheet = { org_id: org.orgId, sheet_id: shared }
    await org.call('PATCH', pathOf(shared), { auto_run: true })
    const token = await switchWebhookOn(app.store.system, OPERATOR, app.services.sealer, { sheet })
    const payload = { name: 'Ann', target: secret }
    expect(await app.api.inject({ method: 'POST', url: `/hooks/${token}`, payload })).toMatchObject({
      statusCode: 200,
    })
  }

  it('a run that nobody started acts as the owner of the workflow', async () => {
    const setting = await makeSetting()
    await deliver(setting)
    expect(await work(setting.org, setting.shared)).toMatchObject([{ status: 'complete' }])
    expect(await landed(setting)).toBe(1)
  })

  it('and is limited to what the member who saved the action may use, until a member with access saves it', async () => {
    const setting = await makeSetting('bob')
    const { org, shared, secret } = setting
    await deliver(setting)
    await start(org.key, shared, secret)
    expect(await work(org, shared)).toMatchObject([refusalOf(secret), refusalOf(secret)])
    expect(await landed(setting)).toBe(0)
    const { inputs } = sending('{{input.target}}')
    await org.call('PATCH', `${pathOf(shared)}/actions/send_to_sheet_1`, { inputs })
    await start(org.key, shared, secret)
    expect((await work(org, shared))[2]).toMatchObject({ status: 'complete' })
  })

  it('nor more than the member who configured what the token gets its value from', async () => {
    const setting = await makeSetting()
    const { org, bob, shared, secret } = setting
    const formula = { action_id: 'format_data_using_js_expression', after: 'input' }
    const expression = { data_formatter: JSON.stringify(secret) }
    const id: string = (await add(bob, shared, { ...formula, inputs: expression })).body.data
      .action_instance_id
    const second = { ...formula, after: id, inputs: { data_formatter: `{{${id}.formatted_data}}` } }
    const next: string = (await add(org.key, shared, second)).body.data.action_instance_id
    const inputs = { target_sheet_id: `{{${next}.formatted_data}}` }
    await org.call('PATCH', `${pathOf(shared)}/actions/send_to_sheet_1`, { inputs })
    await deliver(setting)
    expect(await work(org, shared)).toMatchObject([refusalOf(secret)])
    expect(await landed(setting)).toBe(0)
    // D47: what a removed member has configured belongs to their organisation.
    await org.call('DELETE', '/org/members?email=bob@example.com')
    await start(org.key, shared, secret)
    expect((await work(org, shared))[1]).toMatchObject({ status: 'complete' })
  })
})
