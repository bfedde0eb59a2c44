import { expect, it } from 'vitest'
import { makeSynced, makeSyncApp } from './testing/sync-app.ts'

const syncs = await makeSyncApp()

it('H13: a mapping follows a renamed input, and members go on to it', async () => {
  const { workflow, org, enter, cycle, show } = await makeSynced(syncs, { push_existing: true })
  const renamed = await org.call('PATCH', `${workflow.base}/inputs/who`, { name: 'Who is it' })
  expect(renamed.status).toBe(200)
  await enter('acme')
  await cycle()
  expect(await show()).toMatchObject({ state: 'active' })
  const { rows } = (await org.call('POST', `${workflow.base}/rows/list`, {})).body.data
  expect(rows).toMatchObject([{ inputs: { 'Who is it': 'acme', Site: null } }])
})
