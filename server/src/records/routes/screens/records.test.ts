import { expect, it } from 'vitest'
import { signIn } from '#server/api/testing/session.ts'
import { filterOf, segmentsOf, where } from '#server/records/segments/testing/segments.ts'
import { company, recordsOf } from '#server/records/testing/records.ts'
import { makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp()
const { ingest, only } = recordsOf(app)

async function makeReader() {
  const { orgId, adminEmail } = await app.makeOrg()
  const session = await signIn(app, orgId, adminEmail)
  const find = async (q: string, kind = 'company') => {
    const { status, body } = await session.call('GET', `/records?kind=${kind}&q=${encodeURIComponent(q)}`)
    expect(status).toBe(200)
    return body.data.records.map((one: { fields: { name?: { value: string } } }) => one.fields.name?.value)
  }
  return { orgId, session, find }
}

const person = (email: string, fields: object, relatedTo?: string) => ({
  kind: 'person' as const,
  identifiers: [{ kind: 'email' as const, value: email }],
  fields: { ...fields },
  observed_at: '2026-01-02T00:00:00Z',
  ...(relatedTo === undefined
    ? {}
    : {
        relationships: [
          {
            type: 'works_at',
            to: { kind: 'company' as const, identifiers: [{ kind: 'domain' as const, value: relatedTo }] },
          },
        ],
      }),
})

it('H15: records are found by any of their values, in part, whatever the case, by all words', async () => {
  const { orgId, find } = await makeReader()
  await ingest(
    orgId,
    'crm',
    company('acme.example', { name: 'Acme', city: 'Berlin', staff: 120, note: '50% of "us"' }),
    company('other.example', { name: 'Other', city: 'Bern', note: 'path\\to' }),
    company('silent.example', { name: 'Silent' }),
  )
  await ingest(orgId, 'crm', person('ada@acme.example', { name: 'Ada', title: 'Head of Sales' }))
  expect(await find('berl')).toEqual(['Acme'])
  expect(await find('BER')).toEqual(['Acme', 'Other'])
  expect(await find('ilent.ex')).toEqual(['Silent'])
  expect(await find('120')).toEqual(['Acme'])
  expect(await find('acme bern')).toEqual([])
  expect(await find('berlin acme')).toEqual(['Acme'])
  expect(await find('head of sales', 'person')).toEqual(['Ada'])
  // Neither the names of fields nor the characters of patterns match.
  expect(await find('city')).toEqual([])
  expect(await find('0%')).toEqual(['Acme'])
  expect(await find('_')).toEqual([])
  expect(await find('"us"')).toEqual(['Acme'])
  expect(await find('path\\to')).toEqual(['Other'])
})

it('H15: a search goes through all records by pages, and another organisation sees none', async () => {
  const { orgId, session } = await makeReader()
  const many = Array.from({ length: 900 }, (_, n) =>
    company(`n${n}.example`, { name: `Firm ${n}`, city: 'Oslo' }),
  )
  await ingest(orgId, 'crm', ...many)
  const names = new Set<string>()
  let after: string | null = ''
  while (after !== null) {
    const { body } = await session.call(
      'GET',
      `/records?q=oslo&limit=200${after === '' ? '' : `&after=${after}`}`,
    )
    for (const record of body.data.records) names.add(record.fields.name.value)
    after = body.data.next
  }
  expect(names.size).toBe(900)
  const stranger = await makeReader()
  expect(await stranger.find('oslo')).toEqual([])
})

it('H15: a record answers its values with their history, related records by value, and its segments', async () => {
  const { orgId, session } = await makeReader()
  const { entity_id: id } = await only(orgId, 'crm', company('acme.example', { name: 'Acme', staff: 80 }))
  await ingest(orgId, 'crm', company('acme.example', { staff: 90 }, '2026-02-01T00:00:00Z'))
  await ingest(orgId, 'hubspot', person('ada@acme.example', { name: 'Ada' }, 'acme.example'))
  const { create, evaluate } = segmentsOf(app)
  const segment = await create(orgId, filterOf(where('name', 'is', 'Acme')))
  await evaluate(orgId, segment)
  const { status, body } = await session.call('GET', `/records/${id}`)
  expect(status).toBe(200)
  expect(body.data.fields.staff.value).toBe(90)
  expect(
    body.data.values
      .filter(({ field }: { field: string }) => field === 'staff')
      .map(({ value, current }: { value: number; current: boolean }) => [value, current]),
  ).toEqual([
    [90, true],
    [80, false],
  ])
  expect(body.data.relationships).toMatchObject([
    {
      direction: 'from',
      type: 'works_at',
      source: 'hubspot',
      record: { fields: { name: { value: 'Ada' } } },
    },
  ])
  expect(body.data.segments).toMatchObject([{ segment_id: segment }])
  const members = await session.call('GET', `/segments/${segment}/members`)
  expect(members.body.data).toMatchObject({
    kind: 'company',
    member_count: 1,
    members: [{ entity_id: id, fields: { name: { value: 'Acme' } } }],
    next: null,
  })
  const stranger = await makeReader()
  expect((await stranger.session.call('GET', `/records/${id}`)).status).toBe(404)
  expect((await stranger.session.call('GET', `/segments/${segment}/members`)).status).toBe(404)
  expect((await session.call('GET', '/records/nonsense')).status).toBe(400)
})
