import { beforeAll, expect, it } from 'vitest'
import { signIn } from '#server/api/testing/session.ts'
import { connectPaged, itemsOf, makeSourceApp } from '#server/sources/pulls/testing/source-app.ts'
import type { TestOrg } from '#test/plumbing/harness.ts'

const sources = await makeSourceApp()
const { app, lists } = sources
let org: TestOrg
let session: Awaited<ReturnType<typeof signIn>>
beforeAll(async () => {
  org = await app.makeOrg()
  session = await signIn(app, org.orgId, org.adminEmail)
  await connectPaged(app, org)
  lists.set('people', { items: itemsOf(3), pageSize: 10 })
  lists.set('others', { items: [...itemsOf(3), ...itemsOf(2, 4)], pageSize: 10 })
})

async function makePulled(body: object = {}): Promise<string> {
  const id = await sources.create(org, 'paged_once', { list: 'people', name: 'People', ...body })
  await sources.pull(org, id)
  expect((await sources.show(org, id)).status).toBe('completed')
  return id
}

it('H14: a source is edited; what it reads is read again, and nothing is doubled', async () => {
  const id = await makePulled()
  const { status, body } = await session.call('PATCH', `/sources/${id}`, { name: 'All', list: 'others' })
  expect([status, body.data]).toEqual([200, { source_instance_id: id, reads_again: true }])
  expect(await sources.show(org, id)).toMatchObject({
    name: 'All',
    status: 'active',
    fields: { list: 'others' },
  })
  await sources.pull(org, id)
  expect(await sources.names(org, id)).toEqual(['item 1', 'item 2', 'item 3', 'item 4', 'item 5'])
  expect(await sources.show(org, id)).toMatchObject({ status: 'completed', lead_count: 5 })
})

it('H14: another name alone reads nothing again; a higher number of records does', async () => {
  const id = await makePulled({ max_count: 2 })
  const renamed = await session.call('PATCH', `/sources/${id}`, { name: 'Few', list: 'people', max_count: 2 })
  expect(renamed.body.data.reads_again).toBe(false)
  expect(await sources.show(org, id)).toMatchObject({ name: 'Few', status: 'completed', lead_count: 2 })
  const raised = await session.call('PATCH', `/sources/${id}`, { list: 'people' })
  expect(raised.body.data.reads_again).toBe(true)
  await sources.pull(org, id)
  expect(await sources.show(org, id)).toMatchObject({ name: 'Few', status: 'completed', lead_count: 3 })
})

it('H14: wrong fields of an edit are all named, and change nothing', async () => {
  const id = await makePulled()
  const { status, body } = await session.call('PATCH', `/sources/${id}`, { list: 7, max_count: 0, nope: 1 })
  expect(status).toBe(400)
  expect(body.errors.map(({ field }: { field: string }) => field).sort()).toEqual([
    'list',
    'max_count',
    'nope',
  ])
  expect(await sources.show(org, id)).toMatchObject({ name: 'People', status: 'completed' })
})

it('H14: a source is deleted by its organisation only; its rows stay', async () => {
  const id = await makePulled()
  const made = await org.call('POST', '/workflows', { name: 'Kept' })
  const workflow: string = made.body.data.workflow_id
  await org.call('POST', `/workflows/${workflow}/sheets/${workflow}/inputs`, [{ name: 'n', type: 'string' }])
  await org.call('POST', `/sources/${id}/sync`, {
    workflow_id: workflow,
    field_mapping: { 'input.n': 'name' },
  })
  await sources.deliver(org, id, workflow)
  const other = await app.makeOrg()
  const stranger = await signIn(app, other.orgId, other.adminEmail)
  expect((await stranger.call('DELETE', `/sources/${id}`)).status).toBe(404)
  expect((await stranger.call('PATCH', `/sources/${id}`, { list: 'others' })).status).toBe(404)
  expect((await session.call('DELETE', `/sources/${id}`)).status).toBe(200)
  expect((await org.call('GET', `/sources/${id}`)).status).toBe(404)
  const { body } = await org.call('POST', `/workflows/${workflow}/sheets/${workflow}/rows/list`, {})
  expect(body.data.rows).toHaveLength(3)
})
