import { expect, it } from 'vitest'
import { connectPaged, itemsOf, makeSourceApp } from './testing/source-app.ts'

const sources = await makeSourceApp()

it('H13: a mapping follows a renamed input', async () => {
  const org = await sources.app.makeOrg()
  await connectPaged(sources.app, org)
  const workflow_id: string = (await org.call('POST', '/workflows', { name: 'W' })).body.data.workflow_id
  const base = `/workflows/${workflow_id}/sheets/${workflow_id}`
  const text = (name: string) => ({ name, type: 'string' })
  await org.call('POST', `${base}/inputs`, [text('who'), text('mail')])
  sources.lists.set('list', { items: itemsOf(1) })
  const id = await sources.create(org, 'paged_tracked', { list: 'list' })
  await sources.pull(org, id)
  const field_mapping = { 'input.who': 'name', 'input.mail': 'email' }
  await org.call('POST', `/sources/${id}/sync`, { workflow_id, field_mapping })
  expect((await org.call('PATCH', `${base}/inputs/who`, { name: 'mail to' })).status).toBe(200)
  await sources.deliver(org, id, workflow_id)
  const { rows } = (await org.call('POST', `${base}/rows/list`, {})).body.data
  expect(rows).toMatchObject([{ inputs: { 'mail to': 'item 1', mail: null } }])
  const state = await sources.show(org, id)
  expect(state.syncs[0].field_mapping).toEqual({ 'input.mail to': 'name', 'input.mail': 'email' })
})
