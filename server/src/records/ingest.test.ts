import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'
import { newId } from '../lib/ids.ts'
import { NumberText } from '../lib/json/lossless-json.ts'
import { OPERATOR } from '../organisation/store/audit.ts'
import { ingestForCell } from './cell-writes.ts'
import { findRoot } from './entity.ts'
import { mergeEntities } from './merge.ts'
import { checkRecord } from './record.ts'
import { listChangedEntities } from './store/entities.ts'
import { company, NOW, recordsOf } from './testing/records.ts'

/** Makes about two megabytes of fields with this prefix. */
const large = (prefix: string) =>
  Object.fromEntries(Array.from({ length: 31 }, (_, n) => [`${prefix}${n}`, 'x'.repeat(65_000)]))

const app = await makeApp()
const { only, read } = recordsOf(app)

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

  it('of a source with changing values every value is kept once, with its time', async () => {
    const { orgId } = await app.makeOrg()
    const at = (n: number) => new Date(Date.UTC(2026, 0, 1, n)).toISOString()
    // The latest value comes in the middle.
    const hours = [0, 1, 2, 3, 4, 11, 5, 6, 7, 8, 9, 10]
    for (const n of hours)
      await only(orgId, 'crm', company('acme.com', { n, city: 'Ulm', even: n % 2 === 0 }, at(n)))
    const { entity_id } = await only(orgId, 'crm', company('acme.com', { n: 5, even: false }, at(5)))
    const { entity, history } = await read(orgId, entity_id)
    const shown = { source: 'crm', at: at(11) }
    expect(entity.fields).toEqual({
      n: { value: 11, ...shown },
      city: { value: 'Ulm', ...shown },
      even: { value: false, ...shown },
    })
    const times = (first: number, last: number) => ({
      first_seen: new Date(at(first)),
      last_seen: new Date(at(last)),
    })
    expect(history.values).toMatchObject([
      { field: 'city', value: 'Ulm', ...times(0, 11), current: true },
      { field: 'even', value: false, ...times(1, 11), current: true },
      { field: 'even', value: true, ...times(0, 10), current: false },
      ...hours
        .toSorted((a, b) => b - a)
        .map((n) => ({ field: 'n', value: n, ...times(n, n), current: n === 11 })),
    ])
    const { rows } = await sql<{ fields: object }>`
      select fields from record_statements where org_id = ${orgId}`.execute(app.store.system)
    // The first four are stored whole, then each value on its own.
    expect(rows.map(({ fields }) => Object.keys(fields).length).filter((count) => count > 1)).toEqual([
      3, 3, 3, 3,
    ])
    expect(rows).toHaveLength(4 + 3 + 8)
  })

  it('the first source of the declared order wins at any time', async () => {
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

it('fields of a record, and of an entity, have a limit: what would pass it is refused whole, by rows and by merges too', async () => {
  const { orgId } = await app.makeOrg()
  const db = app.store.org(orgId)
  const checked = checkRecord(company('acme.com', { ...large('a'), ...large('b') }), NOW)
  expect(checked).toEqual({
    faults: [{ field: 'fields', message: 'must have at most 2097152 characters as JSON in all' }],
  })
  const { entity_id } = await only(orgId, 'crm', company('acme.com', large('a')))
  await only(orgId, 'crm', company('acme.com', large('b')))
  const before = await read(orgId, entity_id)
  const refusal = `Entity ${entity_id} would have fields of more than 4 MiB, which is the limit; send shorter values or fewer fields`
  await expect(only(orgId, 'crm', company('acme.com', large('c')))).rejects.toThrow(refusal)
  const cell = { runId: newId(), rowId: newId(), action: 'records_ingest_1' }
  const fields = Object.entries(large('c')).map(([name, value]) => ({ name, value }))
  const identifiers = [{ name: 'domain', value: 'acme.com' }]
  const given = { source: 'crm', kind: 'company' as const, identifiers, fields }
  expect(await ingestForCell(db, orgId, cell, given)).toEqual({ ok: false, message: refusal })
  const other = await only(orgId, 'crm', company('acme.io', large('c')))
  const pair = { keptId: entity_id, mergedId: other.entity_id }
  await expect(mergeEntities(db, orgId, OPERATOR, pair)).rejects.toThrow(refusal)
  await expect(only(orgId, 'crm', company(['acme.io', 'acme.com']))).rejects.toThrow(refusal)
  expect(await read(orgId, entity_id)).toEqual(before)
  expect(await only(orgId, 'crm', company('acme.com', { name: 'Acme' }))).toMatchObject({ changed: true })
})
