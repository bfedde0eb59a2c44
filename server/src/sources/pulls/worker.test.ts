import { expect, it } from 'vitest'
import { until } from '#test/plumbing/until.ts'
import { startTestWorker } from '#test/plumbing/worker.ts'
import { connectPaged, itemsOf, makeSourceApp } from './testing/source-app.ts'

const sources = await makeSourceApp()
const { app, lists } = sources
// Two workers, like two processes.
await startTestWorker(app)
await startTestWorker(app)

it('the initial import after Create runs by itself, and rows arrive in the workflow and run', async () => {
  const org = await app.makeOrg()
  await connectPaged(app, org)
  lists.set('people', { items: itemsOf(250), pageSize: 20 })
  const { body } = await org.call('POST', '/workflows', { name: 'Target' })
  const workflow_id: string = body.data.workflow_id
  const base = `/workflows/${workflow_id}/sheets/${workflow_id}`
  await org.call('POST', `${base}/inputs`, [{ name: 'who', type: 'string' }])
  const action = { action_id: 'normalize_domain', inputs: { value: '{{input.who}}.example' } }
  await org.call('POST', `${base}/actions/add`, action)
  await org.call('PATCH', base, { auto_run: true })
  const id = await sources.create(org, 'paged_once', { list: 'people' })
  const sync = { workflow_id, field_mapping: { 'input.who': 'name' } }
  expect((await org.call('POST', `/sources/${id}/sync`, sync)).status).toBe(201)
  await until('the source is completed', async () => (await sources.show(org, id)).status === 'completed')
  const complete = async () => {
    const { data } = (await org.call('POST', `${base}/rows/list`, { page_size: 200, page_no: 2 })).body
    return (
      data.total_count === 250 &&
      data.rows.every((row: { row_status: string }) => row.row_status === 'complete')
    )
  }
  await until('all rows are complete', complete)
  expect(await sources.show(org, id)).toMatchObject({
    lead_count: 250,
    syncs: [{ delivered: 250, waiting: 0 }],
  })
})

it('a postponed pull continues by itself', async () => {
  const org = await app.makeOrg()
  await connectPaged(app, org)
  lists.set('parked', {
    items: itemsOf(6),
    answer: ({ token }, place) =>
      token === 4 && place < 3 ? { status: 429, headers: { 'retry-after': '1' } } : null,
  })
  const id = await sources.create(org, 'paged_once', { list: 'parked' })
  await until('the source is completed', async () => (await sources.show(org, id)).status === 'completed')
  expect(await sources.names(org, id)).toEqual(itemsOf(6).map(({ name }) => name))
})
