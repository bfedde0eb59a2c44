import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, expect, it } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'
import { runLoam } from '../testing/loam.ts'

const app = await makeApp()
const folder = mkdtempSync(join(tmpdir(), 'loam-records-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const ENV = { DATABASE_URL: app.databaseUrl, LOAM_SECRET: 'a secret for tests only', LOAM_DATA_DIR: folder }

const path = (name: string, ...lines: string[]) => {
  writeFileSync(join(folder, name), `${lines.join('\n')}\n`)
  return join(folder, name)
}
async function records(orgId: string, ...args: string[]) {
  const { exit, stdout, stderr } = await runLoam(['records', ...args, '--org', orgId, '--json'], ENV)
  return { exit, answer: JSON.parse(stdout || stderr) }
}

it('import reads a CSV file; a second import changes nothing; get and history show the source of each value', async () => {
  const { orgId } = await app.makeOrg()
  const file = path(
    'c.csv',
    'Website,Name,Employees',
    'https://www.acme.com,Acme,120',
    'b.io,"B, Inc",7',
    'acme.com,Acme,',
  )
  const flags = [
    '--kind',
    'company',
    '--source',
    'HubSpot',
    '--identifier',
    'Website=domain',
    '--type',
    'Employees=number',
  ]
  const counts = { records: 3, merged: 0, rejected: 0, faults: [] }
  expect(await records(orgId, 'import', file, ...flags)).toEqual({
    exit: 0,
    answer: { ...counts, created: 2, updated: 1, unchanged: 0 },
  })
  expect((await records(orgId, 'import', file, ...flags)).answer).toEqual({
    ...counts,
    created: 0,
    updated: 0,
    unchanged: 3,
  })
  const { answer } = await records(orgId, 'get', 'http://acme.com/')
  expect(answer).toMatchObject({
    kind: 'company',
    identifiers: [{ kind: 'domain', value: 'acme.com' }],
    fields: { Name: { value: 'Acme', source: 'hubspot' }, Employees: { value: 120 } },
  })
  const later = ['--kind', 'company', '--source', 'web', '--at', '2020-01-01T00:00:00Z']
  await records(orgId, 'import', path('d.csv', 'domain;Name', 'acme.com;ACME AG'), ...later)
  const history = await records(orgId, 'history', answer.entity_id)
  expect(history.answer.values).toMatchObject([
    { field: 'Employees', value: 120, current: true },
    { field: 'Name', source: 'hubspot', value: 'Acme', current: true },
    { field: 'Name', source: 'web', value: 'ACME AG', current: false, last_seen: '2020-01-01T00:00:00.000Z' },
  ])
  const text = await runLoam(['records', 'get', 'acme.com', '--org', orgId], ENV)
  expect(text.stdout).toMatch(/^company \S+\n  domain +acme\.com\n(.*\n)*  Name +Acme  \(hubspot, /)
})

it('import reads JSONL, flat or complete with relationships and events', async () => {
  const { orgId } = await app.makeOrg()
  const whole = {
    identifiers: [{ kind: 'email', value: 'Bob@acme.com' }],
    fields: { name: 'Bob' },
    relationships: [
      { type: 'works_at', to: { kind: 'company', identifiers: [{ kind: 'domain', value: 'acme.com' }] } },
    ],
    events: [{ type: 'signed_up', at: '2026-01-01T00:00:00Z', data: { plan: 'free' } }],
  }
  const file = path(
    'p.jsonl',
    JSON.stringify({ email: 'ann@acme.com', external: 17, score: 3 }),
    '',
    JSON.stringify(whole),
  )
  const { answer } = await records(orgId, 'import', file, '--kind', 'person', '--source', 'crm')
  expect(answer).toMatchObject({ records: 2, created: 2, rejected: 0 })
  expect((await records(orgId, 'get', 'crm:17')).answer).toMatchObject({
    identifiers: [{ value: 'ann@acme.com' }, { value: 'crm:17' }],
    fields: { score: { value: 3 } },
  })
  const bob = (await records(orgId, 'get', 'bob@acme.com')).answer
  expect(bob).toMatchObject({
    relationships: [{ direction: 'to', type: 'works_at', kind: 'company' }],
    events: [{ type: 'signed_up', data: { plan: 'free' } }],
  })
  const acme = (await records(orgId, 'get', 'acme.com')).answer
  expect(acme.relationships).toMatchObject([
    { direction: 'from', type: 'works_at', entity_id: bob.entity_id },
  ])
})

it('unreadable records are reported and left out; the others are imported', async () => {
  const { orgId } = await app.makeOrg()
  const file = path('bad.jsonl', '{"domain": "acme.com"}', '{"domain": "acme"}', '[]', '{', '{"name": "x"}')
  const { exit, answer } = await records(orgId, 'import', file, '--kind', 'company', '--source', 'crm')
  expect([exit, answer]).toMatchObject([1, { records: 5, created: 1, rejected: 4 }])
  expect(answer.faults).toMatchObject([
    {
      record: 2,
      errors: [{ field: 'identifiers[0]', message: expect.stringContaining('must be a domain') }],
    },
    { record: 3, errors: [{ message: 'must be a JSON object' }] },
    { record: 4, errors: [{ message: 'must be valid JSON' }] },
    { record: 5, errors: [{ field: 'identifiers', message: 'must have an identifier' }] },
  ])
  const typed = path('typed.csv', 'domain,n', 'acme.com,many')
  const wrong = await records(
    orgId,
    'import',
    typed,
    '--kind',
    'company',
    '--source',
    'crm',
    '--type',
    'n=number',
  )
  expect(wrong.answer.faults).toEqual([{ record: 1, errors: [{ field: 'n', message: 'must be a number' }] }])
})

it.each([
  [
    ['import', 'x.txt', '--kind', 'company', '--source', 'crm'],
    2,
    'must be a file whose name ends in .csv or .jsonl',
  ],
  [['import', 'gone.csv', '--kind', 'company', '--source', 'crm'], 2, 'cannot be read'],
  [
    ['import', 'x.csv', '--kind', 'dog', '--source', 'a:b', '--identifier', 'x=y'],
    2,
    'x=y must be column=kind',
  ],
  [['get', 'nothing.example'], 3, 'Entity nothing.example not found'],
  [['get', 'nothing'], 2, 'must be the id of an entity'],
  [['history', '0190aaaa-0000-7000-8000-000000000000'], 3, 'not found'],
])('loam records %j exits with %i', async (args, code, message) => {
  const { orgId } = await app.makeOrg()
  const { exit, answer } = await records(orgId, ...args)
  expect([exit, JSON.stringify(answer)]).toEqual([code, expect.stringContaining(message)])
})

it('an identifier shared by a person and a contact needs --kind', async () => {
  const { orgId } = await app.makeOrg()
  const file = path('both.csv', 'email', 'ann@acme.com')
  for (const kind of ['person', 'contact'])
    await records(orgId, 'import', file, '--kind', kind, '--source', 'crm')
  expect(await records(orgId, 'get', 'ann@acme.com')).toMatchObject({ exit: 2 })
  const { answer } = await records(orgId, 'get', 'ann@acme.com', '--kind', 'contact')
  expect(answer.kind).toBe('contact')
})

it('merge joins two entities, unmerge separates them, and later imports do not merge them again', async () => {
  const { orgId } = await app.makeOrg()
  const import1 = (...lines: string[]) =>
    records(orgId, 'import', path('m.jsonl', ...lines), '--kind', 'company', '--source', 'crm')
  await import1('{"domain": "a.com", "name": "A"}', '{"domain": "b.com", "city": "Ulm"}')
  const [a, b] = [
    (await records(orgId, 'get', 'a.com')).answer,
    (await records(orgId, 'get', 'b.com')).answer,
  ]
  const merged = await records(orgId, 'merge', 'a.com', 'b.com')
  expect(merged).toEqual({ exit: 0, answer: { entity_id: a.entity_id, merged_id: b.entity_id } })
  const one = (await records(orgId, 'get', b.entity_id)).answer
  expect(one).toMatchObject({
    entity_id: a.entity_id,
    fields: { name: { value: 'A' }, city: { value: 'Ulm' } },
  })
  expect(await records(orgId, 'merge', 'a.com', 'b.com')).toMatchObject({ exit: 4 })
  expect(await records(orgId, 'unmerge', a.entity_id)).toMatchObject({ exit: 4 })

  expect(await records(orgId, 'unmerge', b.entity_id)).toMatchObject({ exit: 0 })
  const content = ({ identifiers, fields }: { identifiers: unknown; fields: unknown }) => ({
    identifiers,
    fields,
  })
  expect(content((await records(orgId, 'get', 'a.com')).answer)).toEqual(content(a))
  expect(content((await records(orgId, 'get', 'b.com')).answer)).toEqual(content(b))
  const both = JSON.stringify({ identifiers: ['a.com', 'b.com'].map((value) => ({ kind: 'domain', value })) })
  expect((await import1(both)).answer).toMatchObject({ merged: 0, rejected: 0 })
  expect((await records(orgId, 'get', 'b.com')).answer.entity_id).toBe(b.entity_id)
  expect(await records(orgId, 'merge', 'b.com', 'a.com')).toMatchObject({ exit: 0 })
  expect((await records(orgId, 'get', 'a.com')).answer.entity_id).toBe(b.entity_id)
})

/** Returns every row of every table, as text. */
async function dumpTables(): Promise<string> {
  const tables = await app.store.system.introspection.getTables()
  const dumps = tables.map(async ({ schema = 'public', name }) => {
    const { rows } = await sql<{
      text: string
    }>`select t::text as text from ${sql.id(schema, name)} t`.execute(app.store.system)
    return rows.map(({ text }) => `${name} ${text}`)
  })
  return (await Promise.all(dumps)).flat().join('\n').toLowerCase()
}

it("erase deletes a person's data: a dump of all tables has no trace of the address or the values", async () => {
  const { orgId } = await app.makeOrg()
  const works = {
    type: 'works_at',
    to: { kind: 'company', identifiers: [{ kind: 'domain', value: 'initech.com' }] },
  }
  const lines = [
    {
      identifiers: [{ kind: 'email', value: 'Zelda@Initech.com' }],
      fields: { name: 'Zelda Quux' },
      relationships: [works],
    },
    {
      identifiers: [{ kind: 'email', value: 'zelda@home.example' }],
      fields: { phone: '+49-555-0199x7' },
      events: [{ type: 'called', at: '2026-01-01T00:00:00Z', data: { note: 'likes zebras' } }],
    },
    {
      identifiers: [{ kind: 'linkedin_url', value: 'linkedin.com/in/zq' }],
      fields: { mail: 'zelda@initech.com', hobby: 'kiting' },
    },
    { identifiers: [{ kind: 'email', value: 'grizelda@initech.com' }], fields: { name: 'Griz' } },
  ].map((line) => JSON.stringify(line))
  await records(orgId, 'import', path('z.jsonl', ...lines), '--kind', 'person', '--source', 'crm')
  await records(
    orgId,
    'import',
    path('zc.csv', 'email,title', 'zelda@initech.com,Chief Zeal'),
    '--kind',
    'contact',
    '--source',
    'crm',
  )
  const owner = path('zo.csv', 'domain,owner,city', 'initech.com,Zelda@initech.com (owner),Ulm')
  await records(orgId, 'import', owner, '--kind', 'company', '--source', 'crm')
  await records(orgId, 'merge', 'zelda@initech.com', 'zelda@home.example', '--kind', 'person')
  const traces = ['(?<!gri)zelda', 'quux', '555-0199x7', 'zebras', 'kiting', 'chief zeal', 'in/zq'].map(
    (text) => new RegExp(text),
  )
  const before = await dumpTables()
  for (const trace of traces) expect(before).toMatch(trace)

  const { exit, answer } = await records(orgId, 'erase', '--email', ' ZELDA@initech.com ')
  expect([exit, answer]).toEqual([0, { entity_ids: expect.any(Array), mentions: 1 }])
  expect(answer.entity_ids).toHaveLength(4)
  const after = await dumpTables()
  for (const trace of traces) expect(after).not.toMatch(trace)
  expect(after).toContain('records.erased')
  const company = (await records(orgId, 'get', 'initech.com')).answer
  expect([Object.keys(company.fields), company.relationships]).toEqual([['city'], []])
  expect((await records(orgId, 'get', 'grizelda@initech.com')).answer.fields.name.value).toBe('Griz')
  expect(await records(orgId, 'get', answer.entity_ids[0])).toMatchObject({ exit: 3 })
  expect(await records(orgId, 'erase', '--email', 'zelda@initech.com')).toMatchObject({ exit: 3 })
})

it('search finds entities by the beginning of an identifier, by fields, or both', async () => {
  const { orgId } = await app.makeOrg()
  const lines = ['domain,industry,size', 'acme.com,software,5', 'acme.io,steel,5', 'b.com,software,7']
  const flags = ['--kind', 'company', '--source', 'crm', '--type', 'size=number']
  await records(orgId, 'import', path('s.csv', ...lines), ...flags)
  const search = async (...args: string[]) =>
    (await records(orgId, 'search', ...args)).answer.map(
      (found: { identifiers: { value: string }[] }) => found.identifiers[0]?.value,
    )
  expect(await search('ACME')).toEqual(['acme.com', 'acme.io'])
  expect(await search('--field', 'industry=software')).toEqual(['acme.com', 'b.com'])
  expect(await search('acme', '--field', 'size=5', '--field', 'industry=steel')).toEqual(['acme.io'])
  expect(await search('acme', '--limit', '1')).toEqual(['acme.com'])
  expect(await search('acme', '--kind', 'person')).toEqual([])
  expect(await records(orgId, 'search')).toMatchObject({ exit: 2 })
})

it('sources declares which source takes precedence, also for existing records', async () => {
  const { orgId } = await app.makeOrg()
  for (const [source, name] of Object.entries({ crm: 'Ours', web: 'Theirs' })) {
    const file = path(`${source}.csv`, 'domain,name', `acme.com,${name}`)
    await records(orgId, 'import', file, '--kind', 'company', '--source', source)
  }
  const nameNow = async () => (await records(orgId, 'get', 'acme.com')).answer.fields.name.value
  expect(await nameNow()).toBe('Theirs')
  expect((await records(orgId, 'sources', '--order', 'crm,web')).answer).toEqual({
    order: ['crm', 'web'],
    changed: 1,
  })
  expect(await nameNow()).toBe('Ours')
  expect((await records(orgId, 'sources', '--order', 'web')).answer).toEqual({ order: ['web'], changed: 1 })
  expect(await nameNow()).toBe('Theirs')
  expect((await records(orgId, 'sources')).answer).toEqual({ order: ['web'], changed: 0 })
})
