import { expect, it } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { company, recordsOf } from '#server/records/testing/records.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { runLoam } from '../testing/loam.ts'

const app = await makeApp()
const { ingest } = recordsOf(app)
const ENV = { DATABASE_URL: app.databaseUrl, LOAM_SECRET: 'a secret for tests only' }

async function segment(orgId: string, ...args: string[]) {
  const { exit, stdout, stderr } = await runLoam(['segment', ...args, '--org', orgId, '--json'], ENV)
  return { exit, answer: JSON.parse(stdout || stderr) }
}
const groups = (...conditions: unknown[]) => JSON.stringify([{ conditions }])
const SOFTWARE = groups({ variable: 'industry', operator: 'is', values: ['software'] })

async function makeRecords() {
  const { orgId } = await app.makeOrg()
  const recently = new Date(Date.now() - 86_400_000).toISOString()
  const { results } = await ingest(
    orgId,
    'crm',
    { ...company('a.com', { industry: 'software' }), events: [{ type: 'signup', at: recently, data: {} }] },
    company('b.com', { industry: 'steel' }),
  )
  return { orgId, ids: results.map(({ entity_id }) => entity_id) }
}

it('create finds the members; members, list, update and delete', async () => {
  const { orgId, ids } = await makeRecords()
  const made = await segment(orgId, 'create', '--name', 'Software', '--kind', 'company', '--filter', SOFTWARE)
  expect(made).toMatchObject({
    exit: 0,
    answer: { name: 'Software', kind: 'company', members: 1, is_evaluated: true, filter_version: 1 },
  })
  const id: string = made.answer.segment_id
  expect((await segment(orgId, 'members', id)).answer).toMatchObject([
    { entity_id: ids[0], identifiers: [{ kind: 'domain', value: 'a.com' }] },
  ])
  const filter = groups({ variable: 'industry', operator: 'is not', values: ['software'] })
  expect((await segment(orgId, 'update', id, '--filter', filter, '--name', 'Others')).answer).toMatchObject({
    name: 'Others',
    filter_version: 2,
    members: 1,
  })
  expect((await segment(orgId, 'members', id)).answer).toMatchObject([{ entity_id: ids[1] }])
  expect((await segment(orgId, 'list')).answer).toMatchObject([
    { segment_id: id, name: 'Others', members: 1 },
  ])
  expect(await segment(orgId, 'delete', id)).toMatchObject({ exit: 0, answer: { segment_id: id } })
  expect((await segment(orgId, 'list')).answer).toEqual([])
  expect((await segment(orgId, 'members', id)).exit).toBe(3)
})

it('the id of a segment is enough, even with several organisations; with another --org it is not found', async () => {
  const { orgId } = await makeRecords()
  const stranger = await app.makeOrg()
  const { answer } = await segment(
    orgId,
    'create',
    '--name',
    'Alone',
    '--kind',
    'company',
    '--filter',
    SOFTWARE,
  )
  const id: string = answer.segment_id
  const byId = async (...args: string[]) => {
    const { exit, stdout, stderr } = await runLoam(['segment', ...args, '--json'], ENV)
    return [exit, JSON.parse(stdout || stderr)]
  }
  expect((await segment(stranger.orgId, 'update', id, '--name', 'Theirs')).exit).toBe(3)
  expect(await byId('update', id, '--name', 'Renamed')).toEqual([
    0,
    expect.objectContaining({ segment_id: id, name: 'Renamed', members: 1 }),
  ])
  expect(await byId('members', id)).toEqual([0, [expect.anything()]])
  expect(await byId('explain', id, 'a.com')).toEqual([0, expect.objectContaining({ matches: true })])
  expect((await segment(stranger.orgId, 'delete', id)).exit).toBe(3)
  expect(await byId('delete', id)).toEqual([0, expect.objectContaining({ deleted: true })])
})

it('explain shows each condition with the values seen, and when time changes the result', async () => {
  const { orgId, ids } = await makeRecords()
  const filter = groups(
    { variable: 'industry', operator: 'is', values: ['software'] },
    { event: 'signup', within_days: 30 },
  )
  const { answer } = await segment(
    orgId,
    'create',
    '--name',
    'Active',
    '--kind',
    'company',
    '--filter',
    filter,
  )
  const inside = (await segment(orgId, 'explain', answer.segment_id, 'https://a.com')).answer
  expect(inside).toMatchObject({
    entity_id: ids[0],
    matches: true,
    is_member: true,
    conditions: [
      { place: 'filter[0].conditions[0]', holds: true, seen: 'software', changes_at: null },
      { place: 'filter[0].conditions[1]', holds: true, seen: { events: 1 }, changes_at: inside.changes_at },
    ],
  })
  expect(Date.parse(inside.changes_at) - Date.now()).toBeGreaterThan(28 * 86_400_000)
  const outside = (await segment(orgId, 'explain', answer.segment_id, ids[1] ?? '')).answer
  expect(outside).toMatchObject({
    matches: false,
    is_member: false,
    changes_at: null,
    conditions: [
      { holds: false, seen: 'steel' },
      { holds: false, seen: { events: 0 } },
    ],
  })
  const words = await runLoam(['segment', 'explain', answer.segment_id, 'b.com', '--org', orgId], ENV)
  expect(words.stdout).toContain('not in the segment')
  expect(words.stdout).toContain('no   industry is "software"; seen: "steel"')
})

it('D28: a number in the filter keeps its digits as written; bounds stay numbers', async () => {
  const { orgId } = await makeRecords()
  const filter =
    '[{"conditions":[{"variable":"industry","operator":"is","values":[1234567890123456789]},{"event":"signup","within_days":1.50}]}]'
  const made = await segment(orgId, 'create', '--name', 'N', '--kind', 'company', '--filter', filter)
  expect([made.exit, made.answer.filter[0].conditions]).toEqual([
    0,
    [
      { variable: 'industry', operator: 'is', values: ['1234567890123456789'] },
      { event: 'signup', within_days: 1.5 },
    ],
  ])
})

it.each<[string, string, string, string]>([
  ['no JSON', '[{', 'filter', 'must be valid JSON'],
  [
    'an operator of another type',
    groups({ variable: 'industry', operator: 'greater than', values: ['5'] }),
    'filter[0].conditions[0].operator',
    'must be one of',
  ],
])('%s in the filter is refused at its place', async (_name, filter, field, message) => {
  const { orgId } = await makeRecords()
  const { exit, answer } = await segment(
    orgId,
    'create',
    '--name',
    'X',
    '--kind',
    'company',
    '--filter',
    filter,
  )
  expect(exit).toBe(2)
  expect(answer.errors).toMatchObject([{ field, message: expect.stringContaining(message) }])
})

it.each<[string, string, string, string]>([
  [
    'misspelt',
    SOFTWARE.replace('industry', 'industri'),
    'filter[0].conditions[0].variable',
    'no company has a field "industri" yet; did you mean industry?',
  ],
  [
    'at the other end',
    groups({
      relationship: 'works_at',
      from: 'person',
      where: [{ conditions: [{ variable: 'industry', operator: 'is empty' }] }],
    }),
    'filter[0].conditions[0].where[0].conditions[0].variable',
    'no person has a field "industry" yet',
  ],
])('a field that no entity has yet is a warning: %s', async (_name, filter, field, message) => {
  const { orgId } = await makeRecords()
  const made = await segment(orgId, 'create', '--name', 'X', '--kind', 'company', '--filter', filter)
  expect(made.exit).toBe(0)
  expect(made.answer.warnings).toMatchObject([{ field, message: expect.stringContaining(message) }])
})

it('a name that is taken is a conflict; a segment that is unknown or of another organisation is not found', async () => {
  const { orgId } = await makeRecords()
  const create = (name: string) =>
    segment(orgId, 'create', '--name', name, '--kind', 'company', '--filter', SOFTWARE)
  const { answer } = await create('One')
  expect((await create('ONE')).exit).toBe(4)
  expect((await segment(orgId, 'update', answer.segment_id)).exit).toBe(2)
  expect((await segment(orgId, 'members', newId())).exit).toBe(3)
  const other = await app.makeOrg()
  for (const args of [
    ['members', answer.segment_id],
    ['delete', answer.segment_id],
    ['update', answer.segment_id, '--name', 'Mine'],
    ['explain', answer.segment_id, 'a.com'],
  ]) {
    expect((await segment(other.orgId, ...args)).exit).toBe(3)
  }
})

it('delete refuses a segment that is synced, names the sync, and ends it with --force', async () => {
  const org = await app.makeOrg()
  const { orgId } = org
  await ingest(orgId, 'crm', company('a.com', { industry: 'software' }))
  const { answer } = await segment(
    orgId,
    'create',
    '--name',
    'Software',
    '--kind',
    'company',
    '--filter',
    SOFTWARE,
  )
  const { workflow_id } = (await org.call('POST', '/workflows', { name: 'Target' })).body.data
  await org.call('POST', `/workflows/${workflow_id}/sheets/${workflow_id}/inputs`, [
    { name: 'site', type: 'string' },
  ])
  const synced = await org.call('POST', `/records/segments/${answer.segment_id}/sync`, {
    workflow_id,
    field_mapping: { 'input.site': 'domain' },
  })
  const syncId: string = synced.body.data.sync_id
  const refused = await segment(orgId, 'delete', answer.segment_id)
  expect([refused.exit, refused.answer.message]).toEqual([4, expect.stringMatching(`${syncId}.*--force`)])
  expect(await segment(orgId, 'delete', answer.segment_id, '--force')).toEqual({
    exit: 0,
    answer: { segment_id: answer.segment_id, deleted: true, ended_sync_id: syncId },
  })
  expect((await org.call('GET', `/records/syncs/${syncId}`)).status).toBe(404)
})
