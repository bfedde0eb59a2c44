import { Readable } from 'node:stream'
import { storeUpload } from '#server/files/uploads.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { evaluateSegments } from '#server/records/segments/evaluate.ts'
import { createSegment } from '#server/records/segments/segments.ts'
import type { TestApp, TestOrg } from '#test/plumbing/harness.ts'
import { settledRows } from '#test/plumbing/worker.ts'
import { publish } from '../../testing/shortcut.ts'
import { EXAMPLE_IDS } from '../operation.ts'

const ROW = { company: 'Stripe', website: 'https://www.stripe.com/about' }

/** Creates the resources that an operation needs. Each operation gets new ones, because some operations delete them. */
export async function makeWorld(
  app: TestApp,
  org: TestOrg,
  path: string,
  list: string,
): Promise<Record<string, string>> {
  const world: Record<string, string> = { ...EXAMPLE_IDS }
  const post = async (to: string, body: unknown) => (await org.call('POST', to, body)).body.data
  const workflow = await post('/workflows', { name: 'World' })
  const sheet = `/workflows/${workflow.workflow_id}/sheets/${workflow.workflow_id}`
  await post(`${sheet}/inputs`, [
    { name: 'company', type: 'string' },
    { name: 'website', type: 'url' },
  ])
  const hasProviders = path.includes('/waterfall/') || path.includes('/options/')
  const action = hasProviders
    ? { action_id: 'person_work_email_waterfall', inputs: { email_providers: ['Hunter', 'Findymail'] } }
    : { action_id: 'normalize_domain', inputs: { value: '{{input.website}}' } }
  world['action_instance_id'] = (await post(`${sheet}/actions/add`, action)).action_instance_id
  world['workflow_id'] = world['sheet_id'] = workflow.workflow_id
  if (/row_id|\/(run|delete|comments|test)/.test(path)) {
    world['row_id'] = (await post(`${sheet}/rows`, { rows: [ROW], run_after_add: 'all' })).row_ids[0]
    if (path.includes('/runs/'))
      world['run_id'] = (await org.call('GET', `${sheet}/runs`)).body.data[0]?.run_id
    await settledRows(org, sheet)
  }
  if (path.includes('{comment_id}'))
    world['comment_id'] = (
      await post(`${sheet}/comments`, { row_id: world['row_id'], text: 'Hm' })
    ).comment_id
  if (path.includes('{test_id}')) {
    const id = world['action_instance_id']
    const row_id = world['row_id']
    const isNew = path.includes('/tests/')
    const made = isNew
      ? await post(`${sheet}/actions/test`, { ...action, row_id })
      : await post(`${sheet}/actions/${id}/test`, { row_id })
    world['test_id'] = made.test_id
  }
  if (hasProviders) world['field_name'] = 'email_providers'
  if (path.includes('{budget_id}')) {
    const budget = { scope: 'workflow', subject: workflow.workflow_id, period: 'day', limit: 100 }
    world['budget_id'] = (await post('/credits/budgets', budget)).budget_id
  }
  if (path.includes('{view_id}')) world['view_id'] = (await post(`${sheet}/views`, { name: 'View' })).view_id
  if (path.includes('{export_id}')) world['export_id'] = (await post(`${sheet}/export`, {})).export_id
  if (/ \/(shortcuts|apps)\//.test(path)) {
    world['id'] = (await publish(app, org, workflow.workflow_id)).shortcut_id
    if (path.includes('{run_id}')) {
      world['run_id'] = (await post(`/shortcuts/${world['id']}/run`, { input_data: {} })).id
    }
  }
  if (/^(DELETE|PATCH) .*\/sheets\/\{sheet_id\}$/.test(path)) {
    world['sheet_id'] = (await post(`/workflows/${workflow.workflow_id}/sheets`, { name: 'Child' })).sheet_id
  }
  if (path.endsWith('/csv')) {
    world['file_ref'] = await putLeads(app, org)
    if (path.startsWith('GET')) {
      await post(`${sheet}/csv`, { file_ref: world['file_ref'], mapping: { Company: 'company' } })
    }
  }
  if (path.includes('{source_instance_id}')) {
    const body = { url: list, items_path: 'items', key_path: 'id', name: 'Companies' }
    world['source_instance_id'] = (await post('/sources/import_from_api', body)).source_instance_id
  }
  if (path.includes('{segment_id}') || path.includes('{sync_id}')) {
    const filter = [{ conditions: [{ variable: 'domain', operator: 'is not empty' }] }]
    const given = { name: `Segment of ${workflow.workflow_id}`, kind: 'company' as const, filter }
    world['segment_id'] = (await createSegment(app.store.system, org.orgId, OPERATOR, given)).segment_id
    await evaluateSegments(app.store.system, org.orgId, world['segment_id'])
    if (path.includes('{sync_id}')) {
      const body = { workflow_id: workflow.workflow_id, field_mapping: { 'input.company': 'domain' } }
      const made = await post(`/records/segments/${world['segment_id']}/sync`, body)
      Object.assign(world, { sync_id: made.sync_id, connection_id: made.connection_id })
      if (path.endsWith('/confirm')) await holdMembers(app, made.sync_id)
    }
  }
  return world
}

async function holdMembers({ store }: TestApp, syncId: string): Promise<void> {
  const text = `update segment_syncs set state = 'pending_confirmation', held_reason = 'flood' where sync_id = $1`
  await store.query({ text, values: [syncId] })
}

async function putLeads({ store, services: { storage } }: TestApp, { orgId }: TestOrg): Promise<string> {
  const upload = { orgId, name: 'leads.csv', createdBy: 'operator' }
  const body = Readable.from([Buffer.from('Company,Website\nStripe,stripe.com\n')])
  return (await storeUpload({ db: store.system, storage }, upload, body)).file_ref
}
