import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'
import { endAfter } from '#test/plumbing/heard-store.ts'
import { ingestRecords } from './ingest.ts'
import { checkRecord } from './record.ts'
import { NOW, recordsOf } from './testing/records.ts'

const app = await makeApp()
const { ingest } = recordsOf(app)

const TABLES = [
  'record_entities',
  'record_identifiers',
  'record_statements',
  'record_relationships',
  'record_events',
  'record_merges',
  'record_addresses',
  'record_terms',
  'record_fields',
]

async function contentOf(orgId: string): Promise<unknown[]> {
  const contents = TABLES.map(async (table) => {
    const { rows } = await sql<{ text: string }>`
      select t::text as text from ${sql.table(table)} t where org_id = ${orgId} order by 1`.execute(
      app.store.system,
    )
    return rows.map(({ text }) => `${table} ${text}`)
  })
  return (await Promise.all(contents)).flat()
}

const domain = (value: string) => ({ kind: 'domain' as const, value })
const both = {
  kind: 'company' as const,
  identifiers: [domain('a.com'), domain('b.com'), domain('new.com')],
  fields: { owner: 'ann@acme.com' },
  relationships: [{ type: 'owns', to: { kind: 'company' as const, identifiers: [domain('c.com')] } }],
  events: [{ type: 'seen', at: '2026-01-01T00:00:00Z', data: { by: 'bob@acme.com' } }],
  observed_at: '2026-01-01T00:00:00Z',
}

it('an ingest that is killed between any two statements leaves nothing, and succeeds when repeated', async () => {
  const { orgId } = await app.makeOrg()
  for (const name of ['a.com', 'b.com']) {
    await ingest(orgId, 'crm', {
      kind: 'company',
      identifiers: [domain(name)],
      observed_at: both.observed_at,
    })
  }
  const before = await contentOf(orgId)
  const checked = checkRecord(both, NOW)
  if ('faults' in checked) throw new Error(JSON.stringify(checked.faults))
  const batch = { source: 'web', actor: 'test', records: [checked.record] }
  let kills = 0
  for (;;) {
    const ended = await ingestRecords(endAfter(app.store, kills + 1).org(orgId), orgId, batch).then(
      ({ merged }) => merged,
      (cause: Error) => cause.message,
    )
    if (ended === 1) break
    expect(ended).toBe('killed here')
    expect(await contentOf(orgId)).toEqual(before)
    kills += 1
  }
  // The merge makes the ingest start again, so statements of both attempts were cut off.
  expect(kills).toBeGreaterThan(15)
  const after = await contentOf(orgId)
  await ingestRecords(app.store.org(orgId), orgId, batch)
  expect(await contentOf(orgId)).toEqual(after)
})
