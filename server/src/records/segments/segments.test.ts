import { type KyselyPlugin, type RawBuilder, sql } from 'kysely'
import { expect, it } from 'vitest'
import type { EntityKind } from '#contract/records.ts'
import { explain } from '#test/plumbing/explain.ts'
import { QUEUES } from '../../database/queue/jobs.ts'
import { AppError } from '../../lib/errors.ts'
import { OPERATOR } from '../../organisation/store/audit.ts'
import { lookUpByKey } from '../../sources/store/source-records.ts'
import { listDueSyncs } from '../syncs/store/ticks.ts'
import { makeSynced, makeSyncApp } from '../syncs/testing/sync-app.ts'
import { company, NOW, recordsOf } from '../testing/records.ts'
import { evaluateSegments } from './evaluate.ts'
import type { Filter } from './filter.ts'
import { judgeEntities } from './judge-entities.ts'
import { previewFilter } from './preview.ts'
import { segmentJobs } from './segment-jobs.ts'
import { createSegment, removeSegment, updateSegment } from './segments.ts'
import { readRelated, type RelatedPlace, relatedQuery } from './store/facts.ts'
import { findSegment } from './store/segments.ts'

const syncs = await makeSyncApp()
const { app } = syncs

/** Returns the result of each call, by the code of its error. */
const codesOf = (outcomes: PromiseSettledResult<unknown>[]) =>
  outcomes.map((outcome) => {
    if (outcome.status === 'fulfilled') return 'done'
    return outcome.reason instanceof AppError ? outcome.reason.code : String(outcome.reason)
  })

it('of segments renamed to one name at the same time one gets it, the others get a conflict', async () => {
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
  // A job queued before the deletion finds nothing to do.
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

it('nothing is left of a deleted segment, also if it is being evaluated', async () => {
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

it('entities with large fields are judged in parts, with the same result', async () => {
  const { orgId } = await app.makeOrg()
  const { ingest } = recordsOf(app)
  const records = Array.from({ length: 600 }, (_, n) => company(`c${n}.example`, { size: n }))
  const { results } = await ingest(orgId, 'crm', ...records)
  // The data is compressible, so its stored size hides its length.
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

const WORKS_AT = { type: 'works_at', direction: 'from', kind: 'person' } as const
const idOf = (name: string) => sql`md5(${name})::uuid`

/** Inserts entities `e<n>` directly into their table: a range of numbers, merged into those that `rootOf` names. */
async function putEntities(orgId: string, kind: EntityKind, from: number, to: number, rootOf = sql`n`) {
  await sql`insert into record_entities (org_id, entity_id, kind, root_id, change_no)
    select ${orgId}, md5('e' || n)::uuid, ${kind}, md5('e' || ${rootOf})::uuid, n
    from generate_series(${from}::int, ${to}::int) n`.execute(app.store.system)
}

async function relate(orgId: string, pairs: RawBuilder<unknown>) {
  await sql`insert into record_relationships (org_id, from_id, type, to_id, source, first_seen, last_seen)
    select ${orgId}, md5('e' || person)::uuid, 'works_at', md5('e' || company)::uuid, source, now(), now()
    from (${pairs}) as t (person, company, source)`.execute(app.store.system)
}

it('each pair of roots is read once, page by page, even if merged parts have several relationships', async () => {
  const { orgId } = await app.makeOrg()
  const db = app.store.org(orgId)
  // Companies 2 and 3 are merged into 1, 5 into 4; every third person into the one before it.
  await putEntities(orgId, 'company', 1, 5, sql`case when n < 4 then 1 else 4 end`)
  await putEntities(orgId, 'person', 10, 39, sql`case when n % 3 = 0 then n - 1 else n end`)
  await relate(
    orgId,
    sql`select p, 1 + (p * 7 + c * 3) % 5, 'source ' || s
      from generate_series(10, 39) p, generate_series(0, 2) c, generate_series(0, 1) s group by 1, 2, 3`,
  )
  // Relationships to another kind, and to the entity itself.
  await relate(orgId, sql`values (4, 1, 'crm'), (2, 1, 'crm')`)
  const { rows: expected } = await sql<{ root_id: string; related_id: string }>`
    select distinct c.root_id, p.root_id as related_id from record_relationships r
    join record_entities c on c.org_id = r.org_id and c.entity_id = r.to_id
    join record_entities p on p.org_id = r.org_id and p.entity_id = r.from_id
    where r.org_id = ${orgId} and p.kind = 'person'`.execute(app.store.system)
  const { rows: roots } = await sql<{
    id: string
  }>`select ${idOf('e1')} as id union all select ${idOf('e4')}`.execute(db)
  const rootIds = roots.map(({ id }) => id)
  const found: string[] = []
  for (let after: RelatedPlace | null | undefined = null; after !== undefined;) {
    const page = await readRelated(db, { orgId, rootIds }, WORKS_AT, { after, limit: 7 })
    found.push(
      ...page.flatMap((one) => (one.related_id === null ? [] : [`${one.root_id} ${one.related_id}`])),
    )
    after = page.at(-1)
  }
  expect(expected.length).toBeGreaterThan(20)
  expect(found.toSorted()).toEqual(expected.map((one) => `${one.root_id} ${one.related_id}`).toSorted())
})

it('a page of relationships costs by its size, and no more are read than decide', async () => {
  // The statistics are older than the organisation.
  await putEntities((await app.makeOrg()).orgId, 'person', 1, 1000)
  await sql`analyze`.execute(app.store.system)
  const { orgId } = await app.makeOrg()
  const db = app.store.org(orgId)
  const PEOPLE = 10_000
  await putEntities(orgId, 'company', 1, 1)
  await putEntities(orgId, 'person', 2, PEOPLE + 1)
  await relate(orgId, sql`select n, 1, 'crm' from generate_series(2, ${PEOPLE + 1}::int) n`)
  const { rows } = await sql<{ id: string }>`select ${idOf('e1')} as id`.execute(db)
  const ids = rows.map(({ id }) => id)
  await db.transaction().execute(async (trx) => {
    await lookUpByKey(trx)
    const [, , third] = await readRelated(trx, { orgId, rootIds: ids }, WORKS_AT, {
      after: null,
      limit: 5000,
    })
    for (const after of [null, third ?? null]) {
      const query = relatedQuery(orgId, ids, WORKS_AT, { after, limit: 10 })
      const plan = await explain(trx, query.compile(trx))
      expect(plan['Actual Rows']).toBe(10)
      // PostgreSQL's blocks for one page; all pages together take thousands.
      expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(300)
    }
  })
  const looks = async (bounds: { at_least?: number; at_most?: number }) => {
    let looked = 0
    const onRelated = (count: number) => void (looked += count)
    const filter: Filter = [{ conditions: [{ relationship: 'works_at', from: 'person', ...bounds }] }]
    const question = { orgId, kind: 'company' as const, filter, now: NOW, onRelated }
    const judged = await judgeEntities(db, question, ids)
    return [looked, ...[...judged.values()].map(({ holds }) => holds)]
  }
  expect(await looks({ at_least: 3 })).toEqual([2000, true])
  expect(await looks({ at_most: 3 })).toEqual([2000, false])
  expect(await looks({ at_least: PEOPLE })).toEqual([PEOPLE, true])
  expect(await looks({ at_least: PEOPLE + 1 })).toEqual([PEOPLE, false])
})

it('entities with many relationships are judged in as many transactions as it takes', async () => {
  const { orgId } = await app.makeOrg()
  const db = app.store.org(orgId)
  await putEntities(orgId, 'company', 1, 9)
  await putEntities(orgId, 'person', 10, 54)
  await relate(orgId, sql`select n, 1 + n % 9, 'crm' from generate_series(10, 54) n`)
  const filter = [{ conditions: [{ relationship: 'works_at', from: 'person', at_least: 5 }] }]
  const { segment_id } = await createSegment(db, orgId, OPERATOR, { name: 'S', kind: 'company', filter })
  let batches = 0
  const isOver = () => (batches += 1) < 0
  expect(await evaluateSegments(db, orgId, segment_id, { maxRelated: 12, isOver })).toBe(true)
  expect(batches).toBeGreaterThan(4)
  expect(await findSegment(db, { org_id: orgId, segment_id })).toMatchObject({ member_count: 9 })
  // A preview with a limit of some seconds no longer waits for them.
  const question = { orgId, kind: 'company' as const, filter: filter as Filter }
  const preview = await previewFilter(db, question, { sampled: 1, signal: AbortSignal.abort() })
  expect(preview).toEqual({ members: 0, lookedAt: 0, complete: false, sample: [] })
})

it('R16: many segments and syncs of one organisation do not delay those of others', async () => {
  const [many, one] = [await app.makeOrg(), await app.makeOrg()]
  for (let n = 0; n < 21; n += 1) await syncs.makeSegment(many)
  const last = await syncs.makeSegment(one)
  const [findDue] = segmentJobs(app.store, app.services.config)
  await findDue?.run({}, AbortSignal.timeout(600_000))
  const { rows: jobs } = await sql<{ segment_id: string; place: number; jobs: number }>`
    select payload ->> 'segment_id' as segment_id, row_number() over (order by id)::int as place, count(*) over ()::int as jobs
    from ${sql.table(`${QUEUES.long}._private_jobs`)}
    where payload ->> 'org_id' in (${many.orgId}, ${one.orgId})`.execute(app.store.system)
  const found = jobs.find(({ segment_id }) => segment_id === last)
  expect(jobs).toHaveLength(22)
  expect(found?.place).toBeLessThan(22)

  const due: string[] = []
  for (const org of [many, many, many, one]) {
    const { body } = await syncs.sync(org, await syncs.makeSegment(org), {
      workflow_id: (await syncs.makeWorkflow(org)).id,
      field_mapping: { 'input.who': 'name' },
    })
    due.push(body.data.sync_id)
  }
  // Due before anything that other tests of this file left.
  await sql`update segment_syncs set next_cycle_at = '2020-01-01'::timestamptz + array_position(${due}::uuid[], sync_id) * interval '1 day'
    where sync_id = any(${due}::uuid[])`.execute(app.store.system)
  expect((await listDueSyncs(app.store.system, 2)).map(({ sync_id }) => sync_id)).toEqual([due[0], due[3]])
})
