import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { serveDouble } from '#server/catalog/testing/provider-double.ts'
import { loadSources } from '#server/sources/registry.ts'
import type { TestOrg } from '#test/plumbing/harness.ts'
import { findAwaited } from './mapped-fields.ts'
import { makeSourceApp } from './testing/source-app.ts'

const sources = await makeSourceApp({}, await loadSources())
const { app } = sources
let org: TestOrg
beforeAll(async () => {
  org = await app.makeOrg()
})

type Lead = { id: number; [field: string]: unknown }

/** Opens an API whose fields only appear in its replies, with a source of it and a workflow. */
async function open(items: Lead[]) {
  const { origin } = await serveDouble(() => ({ json: items }))
  const body = { url: `${origin}/leads`, key_path: 'id', schedule: 'hourly' }
  const id = await sources.create(org, 'import_from_api', body)
  onTestFinished(async () => void (await org.call('PATCH', `/sources/${id}/status`, { status: 'paused' })))
  const made = await org.call('POST', '/workflows', { name: 'Leads' })
  const workflow_id: string = made.body.data.workflow_id
  const base = `/workflows/${workflow_id}/sheets/${workflow_id}`
  await org.call(
    'POST',
    `${base}/inputs`,
    ['who', 'city'].map((name) => ({ name, type: 'string' })),
  )
  return {
    base,
    pull: async () => {
      await sources.set(id, 'next_pull_at = now()')
      await sources.pull(org, id)
    },
    sync: async (field_mapping: Record<string, string>, more: object = {}) => {
      const answer = await org.call('POST', `/sources/${id}/sync`, { workflow_id, field_mapping, ...more })
      await sources.deliver(org, id, workflow_id)
      return answer
    },
    deliver: () => sources.deliver(org, id, workflow_id),
    syncs: async () => (await sources.show(org, id)).syncs,
    rows: async () => {
      const { body: listed } = await org.call('POST', `${base}/rows/list`, { page_size: 200 })
      return listed.data.rows.map(({ inputs }: { inputs: object }) => inputs)
    },
    runs: async () =>
      (
        await app.store.query<{ rows_queued: number }>({
          text: 'select rows_queued from runs where sheet_id = $1',
          values: [workflow_id],
        })
      ).map(({ rows_queued }) => rows_queued),
  }
}

const idOf = (base: string) => base.split('/')[2] ?? ''

const LEADS: Lead[] = [
  { id: 1, name: 'Ann', address: { city: 'Rome' } },
  { id: 2, name: 'Bo', address: { city: 'Oslo' } },
]

describe('D89: fields that only records show', () => {
  it.each([
    ['address.city', '"address.city" is a path into the field address; map the field itself'],
    ['address[0]', 'is a path into the field address'],
    ['Name', 'none of the latest records has the field "Name"; they have: address, id, name'],
  ])('%s is a warning, and nothing is delivered', async (field, words) => {
    const { pull, sync, rows, syncs } = await open(LEADS)
    await pull()
    const { status, body } = await sync({ 'input.who': 'name', 'input.city': field })
    expect(status).toBe(201)
    expect(body.warnings).toEqual([
      {
        field: 'field_mapping.input.city',
        code: 'unknown_field',
        message: expect.stringContaining('nothing is delivered until a record has it'),
      },
    ])
    expect(body.warnings[0].message).toContain(words)
    expect(await rows()).toEqual([])
    expect(await syncs()).toMatchObject([{ awaited_fields: [field], delivered: 0, waiting: 2 }])
  })

  it('everything is delivered once a record has the field, those without it too', async () => {
    const items: Lead[] = [{ id: 1, name: 'Ann' }]
    const { pull, sync, deliver, rows, syncs } = await open(items)
    await pull()
    await sync({ 'input.who': 'name', 'input.city': 'town' })
    expect(await rows()).toEqual([])
    items.push({ id: 2, name: 'Bo', town: null })
    await pull()
    await deliver()
    expect(await rows()).toEqual([
      { who: 'Ann', city: null },
      { who: 'Bo', city: null },
    ])
    expect((await syncs())[0]).not.toHaveProperty('awaited_fields')
  })

  it('before the first pull each is a warning; records that arrive are delivered', async () => {
    const { pull, sync, deliver, rows } = await open([...LEADS])
    const { status, body } = await sync({ 'input.who': 'name' })
    expect(status).toBe(201)
    expect(body.warnings).toMatchObject([
      { code: 'unknown_field', message: expect.stringContaining('no record has been imported yet') },
    ])
    await pull()
    await deliver()
    expect(await rows()).toEqual([
      { who: 'Ann', city: null },
      { who: 'Bo', city: null },
    ])
  })

  it('a field that the records have is no warning', async () => {
    const { pull, sync } = await open(LEADS)
    await pull()
    expect((await sync({ 'input.who': 'name', 'input.city': 'address' })).body.warnings).toEqual([])
  })

  it('an awaited field of a removed input holds nothing back', async () => {
    const { base, pull, sync } = await open(LEADS)
    await pull()
    await sync({ 'input.who': 'name', 'input.city': 'town' })
    const db = app.store.org(org.orgId)
    const made = await db
      .selectFrom('source_syncs')
      .selectAll()
      .where('workflow_id', '=', idOf(base))
      .execute()
    const [who, city] = (made[0]?.mapping ?? []).map(({ input, column }) => ({
      name: input,
      column,
      type: 'string' as const,
      description: '',
    }))
    if (made[0] === undefined || who === undefined || city === undefined) throw new Error('there is no sync')
    expect(await findAwaited(db, made[0], [who, city])).toBe('absent')
    expect(await findAwaited(db, made[0], [who])).toBe('found')
  })

  it('thousands of records are looked at, each once', async () => {
    const items: Lead[] = Array.from({ length: 2500 }, (_, id) => ({ id, name: `n${id}` }))
    const { pull, sync, deliver, syncs } = await open(items)
    await pull()
    await sync({ 'input.who': 'name', 'input.city': 'town' })
    const held = await app.store.query<{ absent: number }>({
      text: `select (mapping -> 1 ->> 'absent_to')::int as absent from source_syncs where mapping @> '[{"field": "town"}]'
        order by created_at desc limit 1`,
    })
    expect(held).toEqual([{ absent: 2500 }])
    items.push({ id: 2500, name: 'last', town: 'Rome' })
    await pull()
    await deliver()
    expect(await syncs()).toMatchObject([{ delivered: 2501, waiting: 0 }])
  })
})

describe('D89: a corrected mapping', () => {
  /** Leaves the state of a mapping that earlier versions accepted: rows of nulls. */
  async function openWithNulls(items: Lead[], more: object = {}) {
    const opened = await open(items)
    await opened.pull()
    await opened.sync({ 'input.who': 'name', 'input.city': 'address' })
    await app.store.query({
      text: `update rows set data = '{}' where sheet_id = $1`,
      values: [idOf(opened.base)],
    })
    await app.store.query({
      text: `update source_syncs set mapping = jsonb_set(mapping, '{0,field}', '"nmae"') where workflow_id = $1`,
      values: [idOf(opened.base)],
    })
    return { ...opened, correct: () => opened.sync({ 'input.who': 'name', 'input.city': 'address' }, more) }
  }

  it('fills empty values of delivered rows without running the rows again', async () => {
    const { base, correct, rows, runs } = await openWithNulls(LEADS)
    await org.call('POST', `${base}/actions/add`, {
      action_id: 'normalize_domain',
      inputs: { value: '{{input.who}}' },
    })
    await correct()
    expect(await rows()).toEqual([
      { who: 'Ann', city: null },
      { who: 'Bo', city: null },
    ])
    expect(await runs()).toEqual([])
  })

  it('runs filled rows if on_change says so', async () => {
    const { base, correct, runs } = await openWithNulls(LEADS, { on_change: 'update_and_run' })
    await org.call('POST', `${base}/actions/add`, {
      action_id: 'normalize_domain',
      inputs: { value: '{{input.who}}' },
    })
    await correct()
    expect(await runs()).toEqual([2])
  })

  it('fills once: a value that is emptied afterwards stays so, and one that is there is never replaced', async () => {
    const { base, correct, deliver, rows } = await openWithNulls(LEADS)
    const set = (value: object) =>
      app.store.query({
        text: `update rows set data = $2 where sheet_id = $1 and seq = 1`,
        values: [idOf(base), JSON.stringify(value)],
      })
    await set({ 1: 'by hand' })
    const before = await rows()
    await correct()
    expect((await rows()).map(({ who }: { who: string }) => who)).toEqual([before[0].who, 'Bo'])
    await set({})
    await deliver()
    await correct()
    expect((await rows()).map(({ who }: { who: string }) => who)).toEqual([null, 'Bo'])
  })

  it('fills rows that were delivered without existing records being pushed again', async () => {
    const { correct, rows } = await openWithNulls(LEADS, { push_existing: false })
    await correct()
    expect(await rows()).toMatchObject([{ who: 'Ann' }, { who: 'Bo' }])
  })

  it('fills any number of rows', async () => {
    const items = Array.from({ length: 900 }, (_, id) => ({ id, name: `n${id}`, address: null }))
    const { base, correct } = await openWithNulls(items)
    await correct()
    const [empty] = await app.store.query<{ count: number }>({
      text: `select count(*)::int as count from rows where sheet_id = $1 and data = '{}'`,
      values: [idOf(base)],
    })
    expect(empty?.count).toBe(0)
  })
})

describe('D89: fields that a body decides', () => {
  it.each([
    ['import_from_hubspot', { object_type: 'contacts', properties: ['email', 'city'] }, 'id, email, city'],
    [
      'import_from_salesforce',
      { object: 'Contact', fields: ['Email', 'Account.Name'] },
      'id, Email, Account.Name',
    ],
    ['import_from_airtable', { base: 'appAbcDefGhiJkl', table: 'Leads', fields: ['Name'] }, 'id, Name'],
    ['extract_from_website', { url: 'https://a.example', fields: [{ name: 'title' }] }, 'title, source_url'],
  ])('%s refuses others before the first pull', async (slug, body, there) => {
    const source = (await loadSources()).get(slug)
    expect(source?.fieldsOf(body)?.join(', ')).toBe(there)
  })

  it('is a 400 that names the fields there are', async () => {
    const body = { url: 'http://127.0.0.1:9/list', fields: [{ name: 'title' }] }
    const id = await sources.create(org, 'extract_from_website', body)
    const made = await org.call('POST', '/workflows', { name: 'Titles' })
    const workflow_id: string = made.body.data.workflow_id
    const inputs = `/workflows/${workflow_id}/sheets/${workflow_id}/inputs`
    await org.call('POST', inputs, [{ name: 'who', type: 'string' }])
    const field_mapping = { 'input.who': 'title.text' }
    const refused = await org.call('POST', `/sources/${id}/sync`, { workflow_id, field_mapping })
    expect(refused.status).toBe(400)
    expect(refused.body.errors).toEqual([
      {
        field: 'field_mapping.input.who',
        message: 'the source has no field "title.text"; it has: title, source_url',
      },
    ])
  })
})
