import { expect, it } from 'vitest'
import type { RecordInput } from '#contract/records.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { OPERATOR } from '../organisation/store/audit.ts'
import { ingestRecords } from './ingest.ts'
import { unmergeEntity } from './merge.ts'
import { checkRecord } from './record.ts'
import { listChangedEntities } from './store/entities.ts'
import { company, NOW, recordsOf } from './testing/records.ts'

const app = await makeApp()
const { ingest, only, read } = recordsOf(app)

/** Lists the roots, and checks that each entity leads to one. */
async function rootsOf(orgId: string): Promise<string[]> {
  const all = await listChangedEntities(app.store.org(orgId), orgId, 0, 10_000)
  const roots = all
    .filter(({ entity_id, root_id }) => entity_id === root_id)
    .map(({ entity_id }) => entity_id)
  for (const { root_id } of all) expect(roots).toContain(root_id)
  return roots
}

it('records of one batch that join entities through others, by different identifiers, make one entity', async () => {
  const { orgId } = await app.makeOrg()
  const s = await only(orgId, 'crm', company('s.com', { name: 'S' }))
  await only(orgId, 'crm', company(['r1.com', 'r2.com'], { city: 'Ulm' }))
  await only(orgId, 'crm', company('t.com', { size: 5 }))
  // The records share no identifier, and both lead to the entity of r1.com and r2.com.
  const { merged } = await ingest(orgId, 'web', company(['s.com', 'r1.com']), company(['t.com', 'r2.com']))
  expect(merged).toBe(2)
  expect(await rootsOf(orgId)).toEqual([s.entity_id])
  const { entity } = await read(orgId, s.entity_id)
  expect(entity.identifiers.map(({ value }) => value)).toEqual(['r1.com', 'r2.com', 's.com', 't.com'])
  expect(Object.keys(entity.fields).sort()).toEqual(['city', 'name', 'size'])
})

it('a batch of merges takes as many statements as one merge, and each can be undone', async () => {
  const { orgId } = await app.makeOrg()
  const size = 200
  const pairs = Array.from({ length: size }, (_, n) => [`a${n}.com`, `b${n}.com`])
  await ingest(orgId, 'crm', ...pairs.flat().map((domain) => company(domain, { domain })))
  const many = await countStatements(orgId, ...pairs.map((pair) => company(pair)))
  expect(many.merged).toBe(size)
  const one = await app.makeOrg()
  await ingest(one.orgId, 'crm', company('a.com'), company('b.com'))
  const single = await countStatements(one.orgId, company(['a.com', 'b.com']))
  expect(single.merged).toBe(1)
  expect(many.count).toBe(single.count)

  expect(await rootsOf(orgId)).toHaveLength(size)
  const { history } = await read(orgId, many.results[7]?.entity_id ?? '')
  const [merge] = history.merges
  await unmergeEntity(app.store.org(orgId), orgId, OPERATOR, merge?.merged_id ?? '')
  expect(await rootsOf(orgId)).toHaveLength(size + 1)
})

/** Counts the statements of an ingest. */
async function countStatements(orgId: string, ...given: RecordInput[]) {
  let count = 0
  const db = app.store.org(orgId).withPlugin({
    transformQuery: ({ node }) => {
      count += 1
      return node
    },
    transformResult: async ({ result }) => result,
  })
  const records = given.map((input) => {
    const checked = checkRecord(input, NOW)
    if ('faults' in checked) throw new Error(JSON.stringify(checked.faults))
    return checked.record
  })
  return { ...(await ingestRecords(db, orgId, { source: 'web', actor: 'test', records })), count }
}
