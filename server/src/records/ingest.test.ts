import fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { RecordInput } from '#contract/records.ts'
import { makeApp } from '#test/harness.ts'
import { NumberText } from '../lib/json/lossless-json.ts'
import { listChangedEntities } from '../store/records/entities.ts'
import { describeEntity, describeHistory, findRoot } from './entity.ts'
import { company, NOW, recordsOf } from './testing/records.ts'

const app = await makeApp()
const { ingest, only, read } = recordsOf(app)

describe('ingest', () => {
  it('merges by identifier: two spellings of one domain are one company', async () => {
    const { orgId } = await app.makeOrg()
    const first = await only(orgId, 'hubspot', company('https://www.Acme.com/about', { name: 'Acme' }))
    expect(first).toMatchObject({ created: true, changed: true })
    const second = await only(orgId, 'hubspot', company('acme.com', { city: 'Ulm' }))
    expect(second).toEqual({ entity_id: first.entity_id, created: false, changed: true, merged: 0 })
    const { entity } = await read(orgId, first.entity_id)
    expect(entity.identifiers).toEqual([{ kind: 'domain', value: 'acme.com' }])
    expect(entity.fields).toEqual({
      name: { value: 'Acme', source: 'hubspot', at: '2026-01-01T00:00:00.000Z' },
      city: { value: 'Ulm', source: 'hubspot', at: '2026-01-01T00:00:00.000Z' },
    })
  })

  it('is idempotent: the same record again changes nothing', async () => {
    const { orgId } = await app.makeOrg()
    const record = {
      ...company('acme.com', { name: 'Acme', size: 12 }),
      events: [{ type: 'visited', at: '2026-01-01T00:00:00Z', data: { page: '/' } }],
      relationships: [
        {
          type: 'owns',
          to: { kind: 'company' as const, identifiers: [{ kind: 'domain' as const, value: 'b.io' }] },
        },
      ],
    }
    const { entity_id } = await only(orgId, 'hubspot', record)
    const before = await read(orgId, entity_id)
    expect(before.entity.events).toHaveLength(1)
    expect(before.entity.relationships).toMatchObject([{ direction: 'to', type: 'owns', kind: 'company' }])
    expect(await only(orgId, 'hubspot', record)).toMatchObject({ entity_id, created: false, changed: false })
    expect(await read(orgId, entity_id)).toEqual(before)
  })

  it('the latest value wins among sources without a declared order, whichever came first; history keeps all', async () => {
    const { orgId } = await app.makeOrg()
    await only(orgId, 'crm', company('acme.com', { name: 'New' }, '2026-02-01T00:00:00Z'))
    const { entity_id } = await only(
      orgId,
      'web',
      company('acme.com', { name: 'Old' }, '2026-01-01T00:00:00Z'),
    )
    const { entity, history } = await read(orgId, entity_id)
    expect(entity.fields['name']).toMatchObject({ value: 'New', source: 'crm' })
    expect(history.values).toMatchObject([
      { field: 'name', source: 'crm', value: 'New', current: true },
      { field: 'name', source: 'web', value: 'Old', current: false },
    ])
  })

  it('the first source of the declared order wins whatever the time', async () => {
    const { orgId } = await app.makeOrg()
    await sql`insert into record_sources (org_id, source, rank) values (${orgId}, 'crm', 1)`.execute(
      app.store.system,
    )
    await only(orgId, 'crm', company('acme.com', { name: 'Ours' }, '2020-01-01T00:00:00Z'))
    const { entity_id } = await only(orgId, 'web', company('acme.com', { name: 'Theirs' }))
    expect((await read(orgId, entity_id)).entity.fields['name']).toMatchObject({
      value: 'Ours',
      source: 'crm',
    })
  })

  it('two entities found to be one are merged with their history; the old id leads to the new one', async () => {
    const { orgId } = await app.makeOrg()
    const a = await only(orgId, 'crm', company('a.com', { name: 'A' }))
    const b = await only(orgId, 'web', company('b.com', { name: 'B', city: 'Ulm' }, '2026-02-01T00:00:00Z'))
    const both = {
      ...company('a.com'),
      identifiers: ['a.com', 'b.com'].map((value) => ({ kind: 'domain' as const, value })),
    }
    expect(await only(orgId, 'crm', both)).toMatchObject({ entity_id: a.entity_id, merged: 1, changed: true })
    const { entity, history } = await read(orgId, b.entity_id)
    expect(entity).toMatchObject({
      entity_id: a.entity_id,
      fields: { name: { value: 'B' }, city: { value: 'Ulm' } },
    })
    expect(history.values.map(({ value }) => value)).toEqual(['Ulm', 'B', 'A'])
    expect(history.merges).toMatchObject([
      { kept_id: a.entity_id, merged_id: b.entity_id, cause: 'identifier' },
    ])
  })

  it('a person and a contact may have the same address; organisations share nothing', async () => {
    const [one, other] = [await app.makeOrg(), await app.makeOrg()]
    const record = (kind: 'person' | 'contact') => ({
      kind,
      identifiers: [{ kind: 'email' as const, value: 'Ann@Acme.com' }],
    })
    const ids = await Promise.all([
      only(one.orgId, 'crm', record('person')),
      only(one.orgId, 'crm', record('contact')),
      only(other.orgId, 'crm', record('person')),
    ])
    expect(new Set(ids.map(({ entity_id }) => entity_id)).size).toBe(3)
    const [first] = ids
    expect(await findRoot(app.store.org(other.orgId), other.orgId, first?.entity_id ?? '')).toBeUndefined()
  })

  it('numbers keep every digit', async () => {
    const { orgId } = await app.makeOrg()
    const { entity_id } = await only(
      orgId,
      'crm',
      company('a.com', { n: new NumberText('12345678901234567890') }),
    )
    const { entity } = await read(orgId, entity_id)
    expect(JSON.stringify(entity.fields['n']?.value)).toBe('12345678901234567890')
  })
})

const DOMAINS = ['a.com', 'b.com', 'c.com', 'd.com', 'e.com']
const said = fc.record({
  source: fc.constantFrom('crm', 'web', 'list'),
  domains: fc.uniqueArray(fc.constantFrom(...DOMAINS), { minLength: 1, maxLength: 2 }),
  fields: fc.dictionary(fc.constantFrom('name', 'city'), fc.constantFrom('x', 'y', 3, true), { maxKeys: 2 }),
  day: fc.integer({ min: 1, max: 4 }),
  partner: fc.option(fc.constantFrom(...DOMAINS)),
  event: fc.option(fc.integer({ min: 1, max: 3 })),
})
type Said = typeof said extends fc.Arbitrary<infer Value> ? Value : never

const toRecord = ({ domains, fields, day, partner, event }: Said): RecordInput => ({
  kind: 'company',
  identifiers: domains.map((value) => ({ kind: 'domain', value })),
  fields,
  observed_at: `2026-01-0${day}T00:00:00Z`,
  relationships:
    partner === null
      ? []
      : [{ type: 'partner', to: { kind: 'company', identifiers: [{ kind: 'domain', value: partner }] } }],
  events: event === null ? [] : [{ type: 'seen', at: `2026-01-0${event}T00:00:00Z`, data: {} }],
})

/** All that is known in an organisation, with entities named by their identifiers instead of their ids. */
async function dump(orgId: string) {
  const db = app.store.org(orgId)
  const all = await listChangedEntities(db, orgId, 0, 1000)
  const roots = all.filter(({ entity_id, root_id }) => entity_id === root_id)
  const described = await Promise.all(roots.map((root) => describeEntity(db, orgId, root)))
  const histories = await Promise.all(roots.map((root) => describeHistory(db, orgId, root)))
  const names = new Map(
    described.map(({ entity_id, identifiers }) => [entity_id, identifiers.map(({ value }) => value).join()]),
  )
  return described
    .map(({ entity_id, identifiers, fields, relationships, events }, at) => ({
      identifiers,
      fields,
      events,
      history: histories[at]?.values,
      relationships: relationships
        .map(({ entity_id: other, ...rest }) => JSON.stringify({ ...rest, other: names.get(other) }))
        .sort(),
      name: names.get(entity_id) ?? '',
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

it('any order of the same ingests, one by one or in batches, gives the same entities, fields and relationships', async () => {
  const orders = fc.array(said, { minLength: 1, maxLength: 8 }).chain((all) =>
    fc.record({
      first: fc.constant(all),
      second: fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length }),
    }),
  )
  await fc.assert(
    fc.asyncProperty(orders, async ({ first, second }) => {
      const [one, other] = [await app.makeOrg(), await app.makeOrg()]
      for (const item of first) await ingest(one.orgId, item.source, toRecord(item))
      for (const source of ['list', 'web', 'crm']) {
        const records = second.filter((item) => item.source === source).map(toRecord)
        // Twice: what was said before changes nothing.
        await ingest(other.orgId, source, ...records)
        await ingest(other.orgId, source, ...records)
      }
      expect(await dump(other.orgId)).toEqual(await dump(one.orgId))
    }),
    { numRuns: 25 },
  )
})

it('concurrent ingests of one entity make one entity, and lose no value', async () => {
  const { orgId } = await app.makeOrg()
  const ingests = Array.from({ length: 24 }, (_, n) =>
    only(orgId, `source-${n}`, company('acme.com', { [`field ${n}`]: n })),
  )
  const ids = new Set((await Promise.all(ingests)).map(({ entity_id }) => entity_id))
  expect(ids.size).toBe(1)
  const { entity } = await read(orgId, [...ids][0] ?? '')
  expect(Object.keys(entity.fields)).toHaveLength(24)
})

it('concurrent batches that overlap, merge and relate do not block each other for ever, and end as one after the other', async () => {
  const [one, other] = [await app.makeOrg(), await app.makeOrg()]
  const batches = fc.sample(fc.array(said, { minLength: 5, maxLength: 8 }), { numRuns: 12, seed: 7 })
  const calls = batches.flatMap((batch) =>
    ['crm', 'web', 'list'].map((source) => ({
      source,
      records: batch.filter((item) => item.source === source).map(toRecord),
    })),
  )
  await Promise.all(calls.map(({ source, records }) => ingest(one.orgId, source, ...records)))
  for (const { source, records } of calls) await ingest(other.orgId, source, ...records)
  expect(await dump(one.orgId)).toEqual(await dump(other.orgId))
})

it('change numbers become visible in their order, also among concurrent ingests: a reader misses none', async () => {
  const { orgId } = await app.makeOrg()
  const db = app.store.org(orgId)
  const seen = new Map<string, number>()
  let cursor = 0
  const writing = new AbortController()
  const readAll = async () => {
    for (const { entity_id, change_no } of await listChangedEntities(db, orgId, cursor, 1000)) {
      expect(change_no).toBeGreaterThan(cursor)
      cursor = change_no
      seen.set(entity_id, change_no)
    }
  }
  const reader = (async () => {
    while (!writing.signal.aborted) await readAll()
  })()
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    for (let n = 0; n < 10; n++)
      await only(orgId, 'crm', company(`c${(n * 7 + writer) % 20}.com`, { n, writer }, NOW.toISOString()))
  })
  await Promise.all(writers)
  writing.abort()
  await reader
  await readAll()
  const { rows } = await sql<{ entity_id: string; change_no: number }>`
    select entity_id, change_no from record_entities where org_id = ${orgId}`.execute(db)
  expect(rows).toHaveLength(20)
  expect(seen).toEqual(new Map(rows.map(({ entity_id, change_no }) => [entity_id, change_no])))
})
