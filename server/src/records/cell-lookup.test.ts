import { expect, it } from 'vitest'
import { isUnavailable, openStore } from '#server/database/connection/db.ts'
import { isFromDatabase } from '#server/database/connection/faults.ts'
import { newId } from '#server/lib/ids.ts'
import { createLog } from '#server/lib/log.ts'
import { atEnd } from '#test/plumbing/at-end.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { listenTo } from '#test/plumbing/heard-store.ts'
import { createCellLookup, type Query } from './cell-lookup.ts'
import { company, recordsOf } from './testing/records.ts'

const RECORDS = 3000

const app = await makeApp()
const { ingest, only } = recordsOf(app)

const query = (identifier: string, more: Partial<Query> = {}): Query => ({
  kind: 'company',
  identifier,
  eventTypes: [],
  limit: 10,
  ...more,
})

const events = (...types: string[]) =>
  types.map((type, n) => ({ type, at: `2026-01-0${n + 1}T00:00:00Z`, data: { n } }))
const owns = (domain: string) => ({
  type: 'owns',
  to: { kind: 'company' as const, identifiers: [{ kind: 'domain' as const, value: domain }] },
})

it('P20: cells that look up at the same time share statements, and each has the answer that it has alone', async () => {
  const [org, other] = [await app.makeOrg(), await app.makeOrg()]
  const records = Array.from({ length: 60 }, (_, n) => ({
    ...company(`c${n}.example`, { name: `Acme ${n}` }),
    events: events('visited', 'bought', 'visited', 'sold').slice(0, n % 5),
    relationships: n % 3 === 0 ? [owns(`c${n + 1}.example`), owns(`c${n + 2}.example`)] : [],
  }))
  const { results } = await ingest(org.orgId, 'crm', ...records)
  await ingest(org.orgId, 'web', company(['c7.example', 'c8.example', 'merged.example'], { name: 'Both' }))
  await only(other.orgId, 'crm', company('c1.example', { name: 'Theirs' }))
  const queries = [
    ...records.flatMap((_, n) => [
      query(`www.C${n}.example/about`, { limit: 1 + (n % 3) }),
      query(results[n]?.entity_id.toUpperCase() ?? '', {
        eventTypes: n % 2 ? ['visited'] : ['sold', 'bought'],
      }),
    ]),
    query('nobody.example'),
    query(org.orgId),
    query('what?'),
    query(results[0]?.entity_id ?? '', { kind: 'person' }),
    query('c1.example'),
    query('c1.example'),
  ]
  const alone = []
  for (const one of queries) alone.push(await createCellLookup(app.store)(org.orgId, one))
  const store = listenTo(app.store)
  const lookup = createCellLookup(store)
  const [together, theirs] = await Promise.all([
    Promise.all(queries.map((one) => lookup(org.orgId, one))),
    Promise.all(queries.map((one) => lookup(other.orgId, one))),
  ])
  expect(together).toEqual(alone)
  expect(together.filter((answer) => answer.ok && answer.value !== null)).toHaveLength(122)
  expect(together[7 * 2]).toMatchObject({ value: { entity: { identifiers: { length: 3 } } } })
  // The first two of each organisation go at once, all others together.
  expect(store.texts.length).toBeLessThan(40)
  expect(theirs.filter((answer) => answer.ok && answer.value !== null)).toHaveLength(3)
  expect(theirs[2]).toMatchObject({ value: { entity: { fields: { name: 'Theirs' } } } })
})

it('an entity about which much is stored is looked up apart from the others, and whole', async () => {
  const { orgId } = await app.makeOrg()
  const noise = (n: number) => Array.from({ length: 6000 }, (_, place) => (place * n * 7919) % 10_007).join()
  const fields = Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`f${n}`, noise(n)]))
  await only(orgId, 'crm', company('large.example', fields))
  const many = Array.from({ length: 100 }, (_, n) => ({
    type: `t${n}`,
    at: '2026-01-01T00:00:00Z',
    data: { n },
  }))
  for (let day = 10; day < 22; day++) {
    const of = many.map((event) => ({ ...event, at: `2026-01-${day}T00:00:00Z` }))
    await only(orgId, 'crm', { ...company('busy.example'), events: of })
  }
  const small = Array.from({ length: 20 }, (_, n) => company(`s${n}.example`, { name: `s${n}` }))
  await ingest(orgId, 'crm', ...small)
  const store = listenTo(app.store)
  const lookup = createCellLookup(store)
  const domains = [
    's0.example',
    's1.example',
    'large.example',
    'busy.example',
    ...small.map((_, n) => `s${n}.example`),
  ]
  const answers = await Promise.all(domains.map((domain) => lookup(orgId, query(domain, { limit: 100 }))))
  expect(answers[2]).toMatchObject({ ok: true, value: { entity: { fields } } })
  expect(answers[3]).toMatchObject({ ok: true, value: { events: { length: 100 } } })
  expect(answers.slice(4)).toMatchObject(
    small.map(({ fields: given }) => ({ value: { entity: { fields: given } } })),
  )
  // Two that go at once, twenty together, and two apart.
  const reads = store.texts.filter((text) => text.includes('record_identifiers') && text.includes('wanted'))
  expect(reads).toHaveLength(5)
})

it('one that cannot be looked up takes no other with it', async () => {
  const { orgId } = await app.makeOrg()
  await ingest(orgId, 'crm', ...['a.com', 'b.com', 'c.com', 'd.com'].map((domain) => company(domain)))
  const lookup = createCellLookup(app.store)
  const ends = await Promise.allSettled(
    ['a.com', 'b.com', 'c.com', 'd.com'].map((domain) =>
      lookup(orgId, query(domain, { eventTypes: domain === 'c.com' ? ['\u0000'] : [] })),
    ),
  )
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
})

it('an outage is told to every cell that waits for it', async () => {
  const store = openStore({ url: 'postgres://nobody@127.0.0.1:1/none', log: createLog('silent') })
  atEnd(() => store.close())
  const lookup = createCellLookup(store)
  const asked = Array.from({ length: 20 }, () => lookup(newId(), query('a.com')))
  const orgId = newId()
  const together = Array.from({ length: 20 }, () => lookup(orgId, query('a.com')))
  for (const end of await Promise.allSettled([...asked, ...together]))
    expect(end.status === 'rejected' && isUnavailable(end.reason) && isFromDatabase(end.reason)).toBe(true)
})

const SCAN = /(?<!Bitmap Heap )Scan.* on record_\w+/

it.each([
  ['that were never counted', async () => {}],
  [
    'many, counted as none',
    async (orgId: string) => {
      const fill = [
        `insert into record_entities (org_id, entity_id, kind, root_id, change_no)
          select $1, md5(n::text)::uuid, 'company', md5(n::text)::uuid, -n from generate_series(1, ${RECORDS}) n`,
        `insert into record_identifiers (org_id, kind, identifier_kind, identifier, entity_id)
          select $1, 'company', 'domain', n || '.example', md5(n::text)::uuid from generate_series(1, ${RECORDS}) n`,
        `insert into record_events (org_id, entity_id, type, at, source, data_hash, data)
          select $1, md5(n::text)::uuid, 'seen', now(), 'crm', '', '{}' from generate_series(1, ${RECORDS}) n`,
        `insert into record_relationships (org_id, from_id, type, to_id, source, first_seen, last_seen)
          select $1, md5(n::text)::uuid, 'owns', md5((n + 1)::text)::uuid, 'crm', now(), now()
          from generate_series(1, ${RECORDS}) n`,
      ]
      for (const text of fill) await app.store.query({ text, values: [orgId] })
    },
  ],
  [
    'many, counted',
    async () => {
      for (const table of ['entities', 'identifiers', 'events', 'relationships'])
        await app.store.query({ text: `vacuum analyze record_${table}` })
    },
  ],
])('all statements of a lookup find records by key: %s', async (_, prepare) => {
  const { orgId } = await app.makeOrg()
  await prepare(orgId)
  await ingest(orgId, 'crm', ...['a.com', 'b.com', 'c.com'].map((domain) => company(domain)))
  const store = listenTo(app.store)
  const lookup = createCellLookup(store)
  const { entity_id } = await only(orgId, 'crm', company('d.com'))
  await Promise.all(['a.com', 'b.com', 'c.com', entity_id].map((text) => lookup(orgId, query(text))))
  const texts = [...new Set(store.texts)]
  expect(texts).toHaveLength(7)
  for (const keyedPlans of [true, false]) {
    const engine = openStore({ url: app.databaseUrl, log: createLog('silent'), keyedPlans })
    atEnd(() => engine.close())
    for (const statement of texts) {
      const text = `explain (generic_plan, costs off) ${statement}`
      const plan = (await engine.query<{ 'QUERY PLAN': string }>({ text })).map((row) => row['QUERY PLAN'])
      const found = plan.flatMap((line, n) => (SCAN.test(line) ? [plan[n + 1] ?? ''] : []))
      expect(found.length, plan.join('\n')).toBeGreaterThan(0)
      for (const condition of found)
        expect(condition, plan.join('\n')).toMatch(
          /Index Cond: \(\(org_id = .*\((entity_id|root_id|from_id|to_id|identifier) = /,
        )
    }
  }
})
