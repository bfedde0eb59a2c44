import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { rowsOf } from '#test/builders/rows.ts'
import { connectPaged, itemsOf, makeSourceApp } from './testing/source-app.ts'

const sources = await makeSourceApp({ LOAM_ROWS_PER_ORG: '3' })
const { app, lists } = sources

it('records without room for their rows wait, the source says why, and all of them come once there is room (LOAM_ROWS_PER_ORG)', async () => {
  const org = await app.makeOrg()
  await connectPaged(app, org)
  lists.set('full', { items: itemsOf(3) })
  const id = await sources.create(org, 'paged_tracked', { list: 'full' })
  await sources.pull(org, id)
  const { makeSheet, addRows, list } = rowsOf(org)
  const base = await makeSheet(['who'])
  const [first = ''] = await addRows(base, [{ who: 'was here' }])
  const workflow_id = base.slice(-36)
  await org.call('POST', `/sources/${id}/sync`, { workflow_id, field_mapping: { 'input.who': 'name' } })
  await sources.deliver(org, id, workflow_id)
  const { body } = await org.call('GET', `/sources/${id}`)
  expect(body.data.last_error).toMatchObject({
    message: expect.stringContaining('Your organisation has 1 row, and its limit is 3 (LOAM_ROWS_PER_ORG)'),
    hint: expect.stringContaining('Make room in the workflow'),
  })
  expect((await list(base)).total_count).toBe(1)
  const { rows } = await sql<{ later: boolean }>`select run_at > now() as later from graphile_long.jobs
    where key = ${`deliver_source_records:${id}:${workflow_id}`}`.execute(app.store.system)
  expect(rows).toEqual([{ later: true }])
  await org.call('POST', `${base}/rows/delete`, { row_ids: [first] })
  await sources.deliver(org, id, workflow_id)
  expect((await list(base)).total_count).toBe(3)
})

it('a source without end is stopped when the organisation has as many records as rows (LOAM_ROWS_PER_ORG)', async () => {
  const org = await app.makeOrg()
  await connectPaged(app, org)
  lists.set('endless', {
    items: [],
    answer: ({ token }) => ({ json: { items: itemsOf(2, token + 1), next: String(token + 2) } }),
  })
  const id = await sources.create(org, 'paged_once', { list: 'endless' })
  await sources.pull(org, id, AbortSignal.timeout(60_000))
  const state = await sources.show(org, id)
  expect(state).toMatchObject({ status: 'active', lead_count: 4 })
  expect(state.last_error.message).toContain(
    'has 4 records of sources, and its limit is 3 (LOAM_ROWS_PER_ORG)',
  )
  expect(Date.parse(state.next_pull_at)).toBeGreaterThan(Date.now())
})
