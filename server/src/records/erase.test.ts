import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'
import { OPERATOR } from '../organisation/store/audit.ts'
import { erasePerson } from './erase.ts'
import { company, recordsOf } from './testing/records.ts'

const app = await makeApp()
const { ingest, only, read } = recordsOf(app)

const erase = (orgId: string, email: string) => erasePerson(app.store.org(orgId), orgId, OPERATOR, email)

it.each([
  'ann@acme.com',
  'first line\nann@acme.com',
  '\tann@acme.com.',
  '"Ann" <ANN@acme.com>',
  'mailto:ann@acme.com?subject=x',
  'a list: joann@acme.com;ann@acme.com',
])('a mention of the address is erased wherever it stands: %j', async (owner) => {
  const { orgId } = await app.makeOrg()
  const event = { type: 'noted', at: '2026-01-01T00:00:00Z', data: { deep: [{ owner }] } }
  const { entity_id } = await only(orgId, 'crm', {
    ...company('acme.com', { owner, city: 'Ulm' }),
    events: [event],
  })
  expect(await erase(orgId, 'ann@acme.com')).toEqual({ entity_ids: [], mentions: 2 })
  const { entity } = await read(orgId, entity_id)
  expect([Object.keys(entity.fields), entity.events]).toEqual([['city'], []])
  await expect(erase(orgId, 'ann@acme.com')).rejects.toMatchObject({ code: 'Not Found' })
})

it.each(['joann@acme.com', 'ann@acme.com.au', 'mary-ann@acme.com', 'ann@acme.community', 'ann at acme.com'])(
  'another address stays, and can be erased later: %s',
  async (owner) => {
    const { orgId } = await app.makeOrg()
    await only(orgId, 'crm', company('acme.com', { owner, boss: 'ann@acme.com' }))
    expect(await erase(orgId, 'ann@acme.com')).toEqual({ entity_ids: [], mentions: 1 })
    if (!owner.includes('@')) return
    expect(await erase(orgId, owner)).toEqual({ entity_ids: [], mentions: 1 })
  },
)

it('values reported together with a mention stay, with the time span of their source', async () => {
  const { orgId } = await app.makeOrg()
  const at = (day: number) => `2026-01-0${day}T00:00:00Z`
  await only(orgId, 'crm', company('acme.com', { city: 'Ulm', owner: 'ann@acme.com', size: 5 }, at(2)))
  await only(orgId, 'crm', company('acme.com', { city: 'Ulm', size: 5 }, at(1)))
  const { entity_id } = await only(orgId, 'web', company('acme.com', { boss: 'ann@acme.com' }, at(3)))
  expect(await erase(orgId, 'ann@acme.com')).toEqual({ entity_ids: [], mentions: 2 })
  const { entity, history } = await read(orgId, entity_id)
  expect(Object.keys(entity.fields)).toEqual(['city', 'size'])
  const [first_seen, last_seen] = [new Date(at(1)), new Date(at(2))]
  expect(history.values).toEqual([
    { field: 'city', source: 'crm', value: 'Ulm', first_seen, last_seen, current: true },
    { field: 'size', source: 'crm', value: 5, first_seen, last_seen, current: true },
  ])
})

it('a Unicode domain counts like its ASCII form', async () => {
  const { orgId } = await app.makeOrg()
  await only(orgId, 'crm', company('a.com', { one: 'ann@bücher.example', two: 'ann@xn--bcher-kva.example' }))
  expect(await erase(orgId, 'Ann@Bücher.example')).toEqual({ entity_ids: [], mentions: 2 })
})

it('a person is found inside external ids and fields, and nothing of other organisations is touched', async () => {
  const [one, other] = [await app.makeOrg(), await app.makeOrg()]
  const people = [
    { kind: 'person' as const, identifiers: [{ kind: 'external' as const, value: 'crm:ann@acme.com' }] },
    {
      kind: 'contact' as const,
      identifiers: [{ kind: 'external' as const, value: 'crm:7' }],
      fields: { mail: ' Ann@Acme.com ' },
    },
  ]
  for (const { orgId } of [one, other]) await ingest(orgId, 'crm', ...people)
  const { entity_ids } = await erase(one.orgId, 'ann@acme.com')
  expect(entity_ids).toHaveLength(2)
  const { rows } = await sql<{ org_id: string }>`
    select distinct org_id from record_addresses where address = 'ann@acme.com'`.execute(app.store.system)
  expect(rows).toEqual([{ org_id: other.orgId }])
  expect((await erase(other.orgId, 'ann@acme.com')).entity_ids).toHaveLength(2)
})
