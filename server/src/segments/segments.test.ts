import { type KyselyPlugin, sql } from 'kysely'
import { expect, it } from 'vitest'
import { AppError } from '../lib/errors.ts'
import { company, NOW, recordsOf } from '../records/testing/records.ts'
import { makeSynced, makeSyncApp } from '../segment-syncs/testing/sync-app.ts'
import { OPERATOR } from '../store/organisation/audit.ts'
import { findSegment } from '../store/segments/segments.ts'
import { evaluateSegments } from './evaluate.ts'
import { judgeEntities } from './judge-entities.ts'
import { removeSegment, updateSegment } from './segments.ts'

const syncs = await makeSyncApp()
const { app } = syncs

/** What became of each, by the code of its error. */
const codesOf = (outcomes: PromiseSettledResult<unknown>[]) =>
  outcomes.map((outcome) => {
    if (outcome.status === 'fulfilled') return 'done'
    return outcome.reason instanceof AppError ? outcome.reason.code : String(outcome.reason)
  })

it('of segments that are renamed to one name at the same time one gets it, for the others it is a conflict', async () => {
  const org = await app.makeOrg()
  const ids: string[] = []
  for (let n = 0; n < 5; n++) ids.push(await syncs.makeSegment(org))
  const db = app.store.org(org.orgId)
  for (let round = 0; round < 5; round++) {
    const renames = ids.map((segment_id, at) => {
      const name = at % 2 === 0 ? `Round ${round}` : `ROUND ${round}`
      return updateSegment(db, { org_id: org.orgId, segment_id }, OPERATOR, { name })
    })
    const codes = codesOf(await Promise.allSettled(renames))
    expect(codes.toSorted()).toEqual(['Conflict', 'Conflict', 'Conflict', 'Conflict', 'done'])
  }
})

it('a segment that is synced is not deleted unless forced, which ends the sync and leaves the rows', async () => {
  const sync = await makeSynced(syncs)
  await sync.enter('acme')
  await sync.cycle()
  expect(await sync.workflow.rows()).toEqual(['acme'])
  const key = { org_id: sync.org.orgId, segment_id: sync.segmentId }
  const db = app.store.org(sync.org.orgId)
  const refused = removeSegment(db, key, OPERATOR, { force: false })
  await expect(refused).rejects.toMatchObject({
    code: 'Conflict',
    message: expect.stringContaining(`synced into 1 workflow by sync ${sync.syncId}`),
  })
  expect(await sync.show()).toMatchObject({ state: 'active' })
  expect(await removeSegment(db, key, OPERATOR, { force: true })).toEqual({ endedSyncId: sync.syncId })
  expect((await sync.org.call('GET', sync.path)).status).toBe(404)
  expect((await sync.org.call('GET', '/records/syncs')).body.data).toEqual([])
  expect(await sync.workflow.rows()).toEqual(['acme'])
  // A job that was queued before finds nothing to do.
  await sync.cycle()
  expect(await sync.workflow.rows()).toEqual(['acme'])
})

it('a segment whose sync was deleted is deleted like any other', async () => {
  const sync = await makeSynced(syncs)
  await sync.org.call('DELETE', sync.path)
  const key = { org_id: sync.org.orgId, segment_id: sync.segmentId }
  const db = app.store.org(sync.org.orgId)
  expect(await removeSegment(db, key, OPERATOR, { force: false })).toEqual({ endedSyncId: null })
  expect(await findSegment(db, key)).toBeUndefined()
})

it('nothing is left of a segment that is deleted, also while it is evaluated', async () => {
  const org = await app.makeOrg()
  const db = app.store.org(org.orgId)
  for (let round = 0; round < 5; round++) {
    const segment_id = await syncs.makeSegment(org)
    const key = { org_id: org.orgId, segment_id }
    await syncs.put(org, [`c${round}a`])
    await evaluateSegments(db, org.orgId, segment_id)
    const left = (table: string) =>
      syncs.count(`select count(*) as count from ${table} where segment_id = $1`, [segment_id])
    expect(await left('segment_members')).toBeGreaterThan(0)
    await syncs.put(org, [`c${round}b`])
    await Promise.all([
      evaluateSegments(db, org.orgId, segment_id),
      removeSegment(db, key, OPERATOR, { force: false }),
    ])
    expect([await left('segment_members'), await left('segment_changes')]).toEqual([0, 0])
  }
})

it('a segment that is deleted while somebody syncs it ends as deleted or as synced, never in between', async () => {
  const org = await app.makeOrg()
  const db = app.store.org(org.orgId)
  const workflow = await syncs.makeWorkflow(org)
  for (let round = 0; round < 5; round++) {
    const segment_id = await syncs.makeSegment(org)
    const key = { org_id: org.orgId, segment_id }
    const [synced, removed] = await Promise.all([
      syncs.sync(org, segment_id, { workflow_id: workflow.id, field_mapping: { 'input.who': 'name' } }),
      removeSegment(db, key, OPERATOR, { force: false }).then(
        () => 'removed',
        (cause: unknown) => (cause instanceof AppError ? cause.code : String(cause)),
      ),
    ])
    expect([
      [404, 'removed'],
      [201, 'Conflict'],
    ]).toContainEqual([synced.status, removed])
    expect((await findSegment(db, key)) === undefined).toBe(removed === 'removed')
  }
})

it('entities with large fields are judged some at a time, all the same', async () => {
  const { orgId } = await app.makeOrg()
  const { ingest } = recordsOf(app)
  const records = Array.from({ length: 600 }, (_, n) => company(`c${n}.example`, { size: n }))
  const { results } = await ingest(orgId, 'crm', ...records)
  // Compressed as they are stored, so that their length is not seen there.
  await sql`update record_entities set fields = fields || jsonb_build_object('text', repeat('x', 60000) || (fields ->> 'size'))
    where org_id = ${orgId}`.execute(app.store.system)
  const answers: number[] = []
  const counting: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      answers.push(JSON.stringify(result.rows).length)
      return result
    },
  }
  const question = {
    orgId,
    kind: 'company' as const,
    filter: [{ conditions: [{ variable: 'text', operator: 'contains' as const, values: ['x7'] }] }],
    now: NOW,
  }
  const ids = results.map(({ entity_id }) => entity_id)
  const judged = await judgeEntities(app.store.org(orgId).withPlugin(counting), question, ids)
  expect(judged.size).toBe(600)
  expect([...judged.values()].filter(({ holds }) => holds)).toHaveLength(11)
  expect(Math.max(...answers)).toBeLessThan(32 * 1024 * 1024)
})
