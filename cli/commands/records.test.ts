import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { makeApp } from '#test/harness.ts'
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

it('import takes in a CSV file; again, nothing changes; get and history say who said what', async () => {
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

it('import takes in JSONL, flat or whole with relationships and events', async () => {
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

it('records that cannot be read are named and left out; the others are taken in', async () => {
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

it('an identifier that a person and a contact have needs --kind', async () => {
  const { orgId } = await app.makeOrg()
  const file = path('both.csv', 'email', 'ann@acme.com')
  for (const kind of ['person', 'contact'])
    await records(orgId, 'import', file, '--kind', kind, '--source', 'crm')
  expect(await records(orgId, 'get', 'ann@acme.com')).toMatchObject({ exit: 2 })
  const { answer } = await records(orgId, 'get', 'ann@acme.com', '--kind', 'contact')
  expect(answer.kind).toBe('contact')
})
