import { afterAll, expect, it } from 'vitest'
import { openStore } from '#server/database/connection/db.ts'
import { makeSynced, makeSyncApp } from '#server/records/syncs/testing/sync-app.ts'
import { createApp } from '../../api/app.ts'

const syncs = await makeSyncApp()
const { app } = syncs
const sync = await makeSynced(syncs)
const { org, segmentId, syncId, connectionId, workflow } = sync

/** A store whose address nothing listens on. */
const gone = openStore({ url: 'postgres://loam@127.0.0.1:1/loam', log: app.services.log })
const cutOff = await createApp({ ...app.services, store: gone })
afterAll(async () => {
  await cutOff.close()
  await gone.close()
})

const syncPath = `/records/syncs/${syncId}`
const REQUESTS: [string, string, object?][] = [
  ['GET', '/records/observe/segments'],
  ['POST', `/records/observe/segments/${segmentId}/changes?since=0`],
  [
    'POST',
    `/records/segments/${segmentId}/sync`,
    { workflow_id: workflow.id, field_mapping: { 'input.who': 'name' } },
  ],
  ['GET', '/records/syncs'],
  ['GET', syncPath],
  ['POST', `${syncPath}/resume`],
  ['POST', `${syncPath}/confirm`, { choice: 'push' }],
  ['POST', `${syncPath}/destinations/${connectionId}/pause`],
  ['POST', `${syncPath}/destinations/${connectionId}/resume`],
  ['DELETE', syncPath],
]

it.each(REQUESTS)(
  'D80: %s %s is 503 with Retry-After while the database is down',
  async (method, url, body) => {
    const answer = await cutOff.inject({
      method: method as 'GET',
      url: `/api/v1${url}`,
      headers: { authorization: `Bearer ${org.key}` },
      ...(body === undefined ? {} : { payload: body }),
    })
    expect([answer.statusCode, answer.json()]).toEqual([
      503,
      expect.objectContaining({ status: 503, error: 'Service Unavailable' }),
    ])
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
  },
)

it('D80: the change feed is 503 when the connection is lost in the middle, and continues afterwards', async () => {
  await sync.enter('acme')
  await sync.cycle()
  const feed = `/records/observe/segments/${segmentId}/changes?since=0`
  const before = await org.call('POST', feed)
  expect(before.status).toBe(200)
  const answer = await app.store.system.transaction().execute(async (trx) => {
    await trx.schema
      .alterTable('segment_changes')
      .alterColumn('kind', (column) => column.setNotNull())
      .execute()
    const asked = org.call('POST', feed)
    await expect
      .poll(() =>
        syncs.count(
          `select count(pg_terminate_backend(pid)) from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and query ~ 'segment_changes'`,
          [],
        ),
      )
      .toBe(1)
    return asked
  })
  expect([answer.status, answer.body.error]).toEqual([503, 'Service Unavailable'])
  expect(answer.headers['retry-after']).toBeDefined()
  expect(await org.call('POST', feed)).toMatchObject({ status: 200, body: before.body })
})
