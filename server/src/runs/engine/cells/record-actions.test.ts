import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { makeRowSheet } from '#test/builders/rows.ts'
import { makeApp, type TestOrg } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { getBalance } from '../../../money/store/credits.ts'
import { ingestForCell, updateForCell } from '../../../records/cell-writes.ts'
import { describeEntity } from '../../../records/entity.ts'
import { findByIdentifier } from '../../../records/lookup.ts'
import { company, recordsOf } from '../../../records/testing/records.ts'

const app = await makeApp()
await startTestWorker(app)
const { only } = recordsOf(app)

type Added = [action_id: string, inputs: Record<string, unknown>]
type Row = Record<string, unknown>

/** Runs rows through a chain of record actions and returns the cells of each. */
async function runRows(org: TestOrg, chain: Added[], rows: Row[], settings: object = {}) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const base = await makeRowSheet(org, columns)
  if (Object.keys(settings).length > 0) await org.call('PATCH', base, settings)
  for (const [action_id, inputs] of chain) {
    const added = await org.call('POST', `${base}/actions/add`, { action_id, inputs })
    expect([added.status, added.body.warnings ?? []]).toEqual([201, []])
  }
  expect((await org.call('POST', `${base}/rows`, { rows })).status).toBe(201)
  expect((await org.call('POST', `${base}/run-all`, {})).status).toBe(200)
  const settled = await settledRows(org, base)
  return { base, cells: settled.map((row): Record<string, Cell> => row.cells) }
}
type Cell = { status: string; outputs: Record<string, unknown>; error?: string; credits?: number }

const read = async (orgId: string, identifier: string) => {
  const db = app.store.org(orgId)
  const root = await findByIdentifier(db, orgId, identifier)
  if (root === undefined) throw new Error(`${identifier} is not there`)
  return describeEntity(db, orgId, root)
}

const INGEST: Added = [
  'records_ingest',
  {
    source: 'sheet',
    entity_kind: 'company',
    identifiers: [
      { name: 'domain', value: '{{input.domain}}' },
      { name: 'external', value: '{{input.id}}' },
    ],
    fields: [
      { name: 'name', value: '{{input.name}}' },
      { name: 'size', value: '{{input.size}}', type: 'number' },
    ],
  },
]

describe('records_ingest', () => {
  it('gives entity_id, accepted and created; two rows of one entity make one, free of charge', async () => {
    const org = await app.makeOrg()
    const balance = () => getBalance(app.store.system, org.orgId)
    const before = await balance()
    const { cells } = await runRows(
      org,
      [INGEST],
      [
        { domain: 'https://www.acme.com', id: '7', name: 'Acme', size: '12' },
        { domain: 'ACME.com', id: '', name: '', size: '' },
      ],
    )
    const outputs = cells.map((row) => row['records_ingest_1']?.outputs)
    const entity = await read(org.orgId, 'acme.com')
    expect(outputs.map((one) => one?.['entity_id'])).toEqual([entity.entity_id, entity.entity_id])
    expect(await balance()).toBe(before)
    expect(outputs.map((one) => one?.['accepted'])).toEqual([true, true])
    expect(outputs.filter((one) => one?.['created'])).toHaveLength(1)
    expect(entity.identifiers).toEqual([
      { kind: 'domain', value: 'acme.com' },
      { kind: 'external', value: 'sheet:7' },
    ])
    expect(entity.fields).toMatchObject({
      name: { value: 'Acme', source: 'sheet' },
      size: { source: 'sheet' },
    })
    expect(JSON.stringify(entity.fields['size']?.value)).toBe('12')
  })

  it.each<[what: string, Row, RegExp]>([
    ['no identifier', { domain: '', id: '' }, /no identifier has a value/],
    ['a bad identifier', { domain: 'no domain' }, /domain: must be a domain/],
    ['a value of another type', { domain: 'acme.com', size: 'many' }, /fields.size: must be a number/],
    ['too long a value', { domain: 'acme.com', name: 'x'.repeat(70_000) }, /fields.name: must have at most/],
  ])(
    'what the record store refuses is complete and not accepted, with the reason: %s',
    async (_what, row, reason) => {
      const org = await app.makeOrg()
      const { cells } = await runRows(org, [INGEST], [{ domain: '', id: '', name: '', size: '', ...row }])
      const cell = cells[0]?.['records_ingest_1']
      expect(cell).toMatchObject({
        status: 'complete',
        outputs: { entity_id: null, accepted: false, created: false, reason: expect.stringMatching(reason) },
      })
      const { rows } = await sql`select from record_entities where org_id = ${org.orgId}`.execute(
        app.store.system,
      )
      expect(rows).toHaveLength(0)
    },
  )

  it('a retried cell gets the same answer and writes nothing, even if both tries run at once', async () => {
    const { orgId } = await app.makeOrg()
    const db = app.store.org(orgId)
    const cell = { runId: crypto.randomUUID(), rowId: crypto.randomUUID(), action: 'records_ingest_1' }
    const given = {
      source: 'sheet',
      kind: 'company' as const,
      identifiers: [{ name: 'domain', value: 'acme.com' }],
      fields: [{ name: 'name', value: 'Acme' }],
    }
    const tries = await Promise.all([1, 2, 3, 4].map(() => ingestForCell(db, orgId, cell, given)))
    const { entity_id, fields } = await read(orgId, 'acme.com')
    for (const one of tries) expect(one).toEqual({ ok: true, value: { entity_id, created: true } })
    const again = await ingestForCell(db, orgId, cell, {
      ...given,
      fields: [{ name: 'name', value: 'Other' }],
    })
    expect(again).toEqual(tries[0])
    expect((await read(orgId, 'acme.com')).fields).toEqual(fields)
    const update = { kind: 'company' as const, identifier: 'acme.com', fields: given.fields }
    const other = { ...cell, action: 'records_update_2' }
    const updates = await Promise.all([1, 2].map(() => updateForCell(db, orgId, other, update)))
    expect(updates[0]).toEqual(updates[1])
  })
})

describe('records_lookup', () => {
  const lookup = (more: Row = {}): Added => [
    'records_lookup',
    { lookup_type: 'company', identifier: '{{input.domain}}', ...more },
  ]

  it('finds by any spelling or id, with events of the chosen types, and formulas reach into the entity', async () => {
    const org = await app.makeOrg()
    const events = ['visited', 'bought', 'visited'].map((type, n) => ({
      type,
      at: `2026-01-0${n + 1}T00:00:00Z`,
      data: { n },
    }))
    const { entity_id } = await only(org.orgId, 'crm', { ...company('acme.com', { name: 'Acme' }), events })
    const { cells } = await runRows(
      org,
      [
        lookup({ events: ['visited'], limit: '1' }),
        ['format_data_using_js_expression', { data_formatter: '{{records_lookup_1.entity}}?.fields?.name' }],
        ['records_lookup', { lookup_type: 'entity', identifier: '{{input.id}}' }],
      ],
      [{ domain: 'www.Acme.com/about', id: entity_id }],
    )
    expect(cells[0]?.['records_lookup_1']?.outputs).toEqual({
      found: true,
      entity: {
        entity_id,
        kind: 'company',
        identifiers: [{ kind: 'domain', value: 'acme.com' }],
        fields: { name: 'Acme' },
        provenance: { name: { source: 'crm', at: '2026-01-01T00:00:00.000Z' } },
        relationships: [],
        created_at: expect.any(String),
      },
      events: [{ type: 'visited', at: '2026-01-03T00:00:00.000Z', source: 'crm', data: { n: 2 } }],
    })
    expect(cells[0]?.['format_data_using_js_expression_1']?.outputs).toEqual({ formatted_data: 'Acme' })
    expect(cells[0]?.['records_lookup_2']?.outputs).toMatchObject({ found: true, entity: { entity_id } })
    expect(cells[0]?.['records_lookup_2']?.outputs['events']).toHaveLength(3)
  })

  it('an unknown entity, or one of another organisation, is not found; an invalid identifier is an error', async () => {
    const [org, other] = [await app.makeOrg(), await app.makeOrg()]
    await only(other.orgId, 'crm', company('acme.com'))
    const { cells } = await runRows(org, [lookup()], [{ domain: 'acme.com' }, { domain: 'what?' }])
    expect(cells[0]?.['records_lookup_1']).toMatchObject({
      status: 'complete',
      outputs: { found: false, entity: null, events: [] },
    })
    expect(cells[1]?.['records_lookup_1']).toMatchObject({
      status: 'error',
      error: expect.stringContaining('identifier: must be the id of an entity, a domain'),
    })
  })

  it('never comes from the cache, nor do writes', async () => {
    const org = await app.makeOrg()
    const row = { domain: 'acme.com', id: '', name: 'Acme', size: '' }
    const cached = { cache_enabled: true }
    const { base, cells } = await runRows(org, [lookup(), INGEST], [row], cached)
    expect(cells[0]?.['records_lookup_1']?.outputs['found']).toBe(false)
    await sql`delete from record_entities where org_id = ${org.orgId}`.execute(app.store.system)
    await sql`delete from record_identifiers where org_id = ${org.orgId}`.execute(app.store.system)
    await org.call('POST', `${base}/run-all`, {})
    await settledRows(org, base)
    await org.call('POST', `${base}/run-all`, {})
    const [again] = await settledRows(org, base)
    const after: Record<string, Cell> = again?.cells ?? {}
    expect(after['records_lookup_1']?.outputs['found']).toBe(true)
    expect(after['records_ingest_1']?.outputs).toMatchObject({ accepted: true, created: false })
    const { rows } = await sql`select from cell_cache where org_id = ${org.orgId}`.execute(app.store.system)
    expect(rows).toHaveLength(0)
  })
})

describe('records_update', () => {
  const update: Added = [
    'records_update',
    {
      scope: 'company',
      identifier: '{{input.domain}}',
      company_fields_to_set: [{ name: 'tier', value: '{{input.tier}}' }],
    },
  ]

  it('sets fields of an existing entity, and makes none', async () => {
    const org = await app.makeOrg()
    const { entity_id } = await only(org.orgId, 'crm', company('acme.com', { tier: 'C' }))
    const { cells } = await runRows(
      org,
      [update],
      [
        { domain: 'acme.com', tier: 'A' },
        { domain: 'nobody.com', tier: 'A' },
        { domain: 'acme.com', tier: '' },
      ],
    )
    const outputs = cells.map((row) => row['records_update_1']?.outputs)
    expect(outputs).toEqual([
      { entity_id, updated: true },
      { entity_id: null, updated: false },
      { entity_id, updated: false },
    ])
    const { fields } = await read(org.orgId, 'acme.com')
    expect(fields['tier']).toMatchObject({ value: 'A', source: 'workflow' })
  })

  it('follows the declared order of sources: one before it keeps its value', async () => {
    const org = await app.makeOrg()
    await sql`insert into record_sources (org_id, source, rank) values (${org.orgId}, 'crm', 1)`.execute(
      app.store.system,
    )
    await only(org.orgId, 'crm', company('acme.com', { tier: 'C' }))
    const { cells } = await runRows(org, [update], [{ domain: 'acme.com', tier: 'A' }])
    expect(cells[0]?.['records_update_1']?.outputs).toMatchObject({ updated: false })
    expect((await read(org.orgId, 'acme.com')).fields['tier']).toMatchObject({ value: 'C' })
  })
})

describe('records_relationship', () => {
  const relate = (operation: string, relationship_target = 'person_to_company'): Added => [
    'records_relationship',
    {
      relationship_target,
      operation,
      relationship_type: 'works_at',
      from_identifier: '{{input.email}}',
      to_identifier: '{{input.domain}}',
    },
  ]
  const changed = (cells: Record<string, Cell>[]) =>
    cells.map((row) => row['records_relationship_1']?.outputs)

  it('adds missing relationships, removes those of any source, and says whether anything changed', async () => {
    const org = await app.makeOrg()
    const row = { email: 'ann@acme.com', domain: 'acme.com' }
    expect(changed((await runRows(org, [relate('remove')], [row])).cells)).toEqual([{ changed: false }])
    expect(changed((await runRows(org, [relate('add')], [row])).cells)).toEqual([{ changed: true }])
    await only(org.orgId, 'crm', {
      kind: 'person',
      identifiers: [{ kind: 'email', value: 'ann@acme.com' }],
      relationships: [
        { type: 'works_at', to: { kind: 'company', identifiers: [{ kind: 'domain', value: 'acme.com' }] } },
      ],
    })
    const before = await read(org.orgId, 'acme.com')
    expect(before.relationships).toHaveLength(2)
    expect(changed((await runRows(org, [relate('add', 'company')], [row])).cells)).toEqual([
      { changed: false },
    ])
    expect(changed((await runRows(org, [relate('remove', 'company')], [row])).cells)).toEqual([
      { changed: true },
    ])
    const after = await read(org.orgId, 'acme.com')
    expect(after.relationships).toEqual([])
    expect(after.change_no).toBeGreaterThan(before.change_no)
    expect(changed((await runRows(org, [relate('remove')], [row])).cells)).toEqual([{ changed: false }])
  })

  it('an address that no entity has yet does not say which kind of entity it belongs to', async () => {
    const org = await app.makeOrg()
    const row = { email: 'ann@acme.com', domain: 'acme.com' }
    const { cells } = await runRows(org, [relate('add', 'company')], [row])
    expect(cells[0]?.['records_relationship_1']).toMatchObject({
      status: 'error',
      error: expect.stringContaining('person_to_company'),
    })
  })
})
