import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { listChanges, lockSync } from '#server/sources/store/source-syncs.ts'
import type { TestOrg } from '#test/plumbing/harness.ts'
import { connectPaged, type Item, itemsOf, makeSourceApp } from './testing/source-app.ts'

const sources = await makeSourceApp()
const { app, lists } = sources
let org: TestOrg
beforeAll(async () => {
  org = await app.makeOrg()
  await connectPaged(app, org)
})

let serial = 0
async function makeWorkflow(from = org, key = org.key) {
  const call = (method: string, path: string, body?: unknown) => app.call(key, method, path, body)
  const { body } = await call('POST', '/workflows', { name: `Target ${serial}` })
  const id: string = body.data.workflow_id
  const base = `/workflows/${id}/sheets/${id}`
  await call('POST', `${base}/inputs`, [
    { name: 'who', type: 'string' },
    { name: 'mail', type: 'email' },
  ])
  return {
    id,
    base,
    rows: async () => {
      const listed = await from.call('POST', `${base}/rows/list`, { page_size: 200 })
      return listed.body.data.rows.map(({ inputs }: { inputs: { who: string; mail: string } }) => inputs)
    },
  }
}

async function makeSource(items: Item[], slug = 'paged_tracked') {
  serial += 1
  const list = `list${serial}`
  lists.set(list, { items })
  const id = await sources.create(org, slug, { list })
  await sources.pull(org, id)
  return {
    id,
    sync: (body: object) => org.call('POST', `/sources/${id}/sync`, body),
    pullAgain: async () => {
      await sources.set(id, 'next_pull_at = now()')
      await sources.pull(org, id)
    },
  }
}

const WHO = { 'input.who': 'name' }
const whoOf = (rows: { who: string }[]) => rows.map(({ who }) => who)

describe('harmful records of a source', () => {
  it('a field that every object inherits is empty, and what follows is delivered', async () => {
    const source = await makeSource(itemsOf(2))
    const workflow = await makeWorkflow()
    const field_mapping = { 'input.who': 'name', 'input.mail': 'email' }
    await source.sync({ workflow_id: workflow.id, field_mapping })
    for (const field of ['constructor', '__proto__', 'toString']) {
      await app.store.query({
        text: `update source_syncs set position = 0, mapping = jsonb_set(mapping, '{1,field}', to_jsonb($2::text))
          where instance_id = $1`,
        values: [source.id, field],
      })
      await app.store.query({
        text: 'delete from source_deliveries where instance_id = $1',
        values: [source.id],
      })
      await sources.deliver(org, source.id, workflow.id)
    }
    expect(await workflow.rows()).toEqual(
      Array.from({ length: 6 }, (_, n) => ({ who: `item ${(n % 2) + 1}`, mail: null })),
    )
  })

  it('large records are delivered in chunks and pages of bounded size', async () => {
    const source = await makeSource(itemsOf(40))
    // The data is compressible, so its stored size hides its length.
    await app.store.query({
      text: `update source_records set data = json_build_object('name', repeat('x', 1000000), 'email', key)
        where instance_id = $1`,
      values: [source.id],
    })
    const page = (size: number) => org.call('GET', `/sources/${source.id}/data?page_size=${size}`)
    const refused = await page(40)
    expect(refused.status).toBe(400)
    expect(refused.body.errors[0]).toMatchObject({
      field: 'page_size',
      message: expect.stringContaining('such as 8'),
    })
    expect((await page(8)).body.data.rows).toHaveLength(8)
    const workflow = await makeWorkflow()
    await source.sync({ workflow_id: workflow.id, field_mapping: { 'input.mail': 'email' } })
    const key = { org_id: org.orgId, instance_id: source.id, workflow_id: workflow.id }
    const sync = await lockSync(app.store.org(org.orgId), key)
    if (sync === undefined) throw new Error('the sync is gone')
    const { changes, more } = await listChanges(app.store.org(org.orgId), sync, 400)
    expect([changes.length < 40, more]).toEqual([true, true])
    await sources.deliver(org, source.id, workflow.id)
    const state = await sources.show(org, source.id)
    expect(state.syncs[0]).toMatchObject({ delivered: 40, waiting: 0 })
  })
})

describe('POST /sources/{source_instance_id}/sync', () => {
  it('brings existing records and later ones into the main sheet, each once', async () => {
    const items = itemsOf(3)
    const source = await makeSource(items)
    const workflow = await makeWorkflow()
    const { status, body } = await source.sync({ workflow_id: workflow.id, field_mapping: WHO })
    expect(status).toBe(201)
    expect(body).toEqual({
      status: 201,
      warnings: [],
      data: {
        source_instance_id: source.id,
        workflow_id: workflow.id,
        push_existing: true,
        fields_mapped: 1,
      },
    })
    await sources.deliver(org, source.id, workflow.id)
    expect(await workflow.rows()).toEqual([1, 2, 3].map((n) => ({ who: `item ${n}`, mail: null })))
    items.push({ id: 4, name: 'item 4' })
    await source.pullAgain()
    await Promise.all([1, 2, 3].map(() => sources.deliver(org, source.id, workflow.id)))
    expect(whoOf(await workflow.rows())).toEqual(['item 1', 'item 2', 'item 3', 'item 4'])
  })

  it('push_existing: false connects without importing current rows, also when they change later', async () => {
    const items = itemsOf(3)
    const source = await makeSource(items)
    const workflow = await makeWorkflow()
    await source.sync({
      workflow_id: workflow.id,
      field_mapping: WHO,
      push_existing: false,
      on_change: 'update',
    })
    await sources.deliver(org, source.id, workflow.id)
    expect(await workflow.rows()).toEqual([])
    items[0] = { id: 1, name: 'changed' }
    items.push({ id: 4, name: 'item 4' })
    await source.pullAgain()
    await sources.deliver(org, source.id, workflow.id)
    expect(whoOf(await workflow.rows())).toEqual(['item 4'])
    await source.sync({ workflow_id: workflow.id, field_mapping: WHO })
    await sources.deliver(org, source.id, workflow.id)
    expect(whoOf(await workflow.rows()).sort()).toEqual(['changed', 'item 2', 'item 3', 'item 4'])
  })

  it('D49, D89: re-syncing a pair replaces the mapping, fills what arrived empty and never delivers a record twice', async () => {
    const items: Item[] = [{ id: 1, name: 'Ann', email: 'ann@acme.example' }]
    const source = await makeSource(items)
    const workflow = await makeWorkflow()
    await source.sync({ workflow_id: workflow.id, field_mapping: WHO })
    await sources.deliver(org, source.id, workflow.id)
    await source.sync({
      workflow_id: workflow.id,
      field_mapping: { 'input.mail': 'email' },
      on_change: 'update_and_run',
    })
    await sources.deliver(org, source.id, workflow.id)
    items.push({ id: 2, name: 'Bo', email: 'bo@acme.example' })
    await source.pullAgain()
    await sources.deliver(org, source.id, workflow.id)
    expect(await workflow.rows()).toEqual([
      { who: 'Ann', mail: 'ann@acme.example' },
      { who: null, mail: 'bo@acme.example' },
    ])
  })

  it('a record whose row was deleted does not come back', async () => {
    const source = await makeSource(itemsOf(2))
    const workflow = await makeWorkflow()
    await source.sync({ workflow_id: workflow.id, field_mapping: WHO })
    await sources.deliver(org, source.id, workflow.id)
    await org.call('POST', `${workflow.base}/rows/delete-all`)
    await source.sync({ workflow_id: workflow.id, field_mapping: WHO })
    await sources.deliver(org, source.id, workflow.id)
    expect(await workflow.rows()).toEqual([])
  })

  it.each([
    ['ignore', 'item 1'],
    ['update', 'renamed'],
    ['update_and_run', 'renamed'],
  ])('on_change %s: the row of a changed record is then %s', async (on_change, name) => {
    const items: Item[] = [{ id: 1, name: 'item 1', email: 'a@acme.example' }]
    const source = await makeSource(items)
    const workflow = await makeWorkflow()
    await org.call('POST', `${workflow.base}/actions/add`, {
      action_id: 'normalize_domain',
      inputs: { value: '{{input.who}}' },
    })
    await source.sync({
      workflow_id: workflow.id,
      field_mapping: { ...WHO, 'input.mail': 'email' },
      on_change,
    })
    await sources.deliver(org, source.id, workflow.id)
    items[0] = { id: 1, name: 'renamed', email: null }
    await source.pullAgain()
    await sources.deliver(org, source.id, workflow.id)
    await source.pullAgain()
    await sources.deliver(org, source.id, workflow.id)
    expect(await workflow.rows()).toEqual([
      { who: name, mail: on_change === 'ignore' ? 'a@acme.example' : null },
    ])
    const runs = await app.store.query<{ trigger: string }>({
      text: 'select trigger from runs where sheet_id = $1',
      values: [workflow.id],
    })
    expect(runs).toEqual(on_change === 'update_and_run' ? [{ trigger: 'source' }] : [])
  })

  it("whether landed rows run is the sheet's auto_run setting, and it is not the workflow's last run (D16, D45)", async () => {
    const source = await makeSource(itemsOf(3))
    const workflow = await makeWorkflow()
    await org.call('POST', `${workflow.base}/actions/add`, {
      action_id: 'normalize_domain',
      inputs: { value: '{{input.who}}' },
    })
    await org.call('PATCH', workflow.base, { auto_run: true })
    await source.sync({ workflow_id: workflow.id, field_mapping: WHO })
    await sources.deliver(org, source.id, workflow.id)
    const runs = await app.store.query<{ trigger: string; rows_queued: number }>({
      text: 'select trigger, rows_queued from runs where sheet_id = $1',
      values: [workflow.id],
    })
    expect(runs).toEqual([{ trigger: 'source', rows_queued: 3 }])
    const overview = await org.call('GET', `/workflows/${workflow.id}`)
    expect(overview.body.data.last_run_at).toBeNull()
  })

  it('run is accepted, ignored and reported as deprecated_field', async () => {
    const source = await makeSource(itemsOf(1))
    const workflow = await makeWorkflow()
    const { status, body } = await source.sync({ workflow_id: workflow.id, field_mapping: WHO, run: 'all' })
    expect(status).toBe(201)
    expect(body.warnings).toEqual([{ field: 'run', code: 'deprecated_field', message: expect.any(String) }])
  })

  it('surrounding double braces are tolerated', async () => {
    const source = await makeSource(itemsOf(1))
    const workflow = await makeWorkflow()
    const field_mapping = { '{{input.who}}': 'name', '{{ input.mail }}': 'email' }
    const { body } = await source.sync({ workflow_id: workflow.id, field_mapping })
    expect(body.data.fields_mapped).toBe(2)
  })

  it.each([
    [{}, 'must map at least one input'],
    [{ 'input.Who': 'name' }, 'matches no input'],
    [
      { 'input.nobody': 'name' },
      'matches no input; names are case-sensitive; the workflow has: input.who, input.mail',
    ],
    [{ who: 'name' }, 'must be a reference to an input, such as input.<name>'],
    [{ 'Input.who': 'name' }, 'must be a reference to an input'],
    [{ '{{env.who}}': 'name' }, 'must be a reference to an input'],
    [{ 'input.who': 'name', '{{input.who}}': 'email' }, 'maps the input who a second time'],
    [{ 'input.who': 'Name' }, 'the source has no field "Name"; it has: name, email, at'],
    [{ 'input.who': 'name.first' }, 'the source has no field "name.first"'],
    [{ 'input.who': '' }, 'must be non-empty'],
    [{ 'input.who': 5 }, 'must be a string'],
    [[], 'must be an object'],
    [undefined, 'required'],
  ])('refuses the mapping %j', async (field_mapping, words) => {
    const source = await makeSource([])
    const workflow = await makeWorkflow()
    const { status, body } = await source.sync({ workflow_id: workflow.id, field_mapping })
    expect(status).toBe(400)
    expect(JSON.stringify(body.errors)).toContain(words.replaceAll('"', '\\"'))
  })

  it.each([
    [{ workflow_id: 'x' }, 400],
    [{ workflow_id: randomUUID() }, 404],
    [{ on_change: 'sometimes' }, 400],
    [{ push_existing: 'yes' }, 400],
    [{ max_credit: 5 }, 400],
  ])('%j is %i', async (change, status) => {
    const source = await makeSource([])
    const workflow = await makeWorkflow()
    const answer = await source.sync({ workflow_id: workflow.id, field_mapping: WHO, ...change })
    expect(answer.status).toBe(status)
  })

  it("another organisation's workflow is 404, one without access 403, also for a key that is limited (D13)", async () => {
    const source = await makeSource(itemsOf(1))
    const other = await app.makeOrg()
    const foreign = await makeWorkflow(other, other.key)
    expect((await source.sync({ workflow_id: foreign.id, field_mapping: WHO })).status).toBe(404)
    const workflow = await makeWorkflow()
    const member = await org.keyFor('ann@example.com', 'member')
    const limited = await org.keyFor(org.adminEmail, 'admin', { allowedWorkflowIds: [randomUUID()] })
    for (const key of [member, limited]) {
      const body = { workflow_id: workflow.id, field_mapping: WHO }
      expect((await app.call(key, 'POST', `/sources/${source.id}/sync`, body)).status).toBe(403)
    }
  })

  it('D13: a key with allowed_workflow_ids uses the sources that feed its workflows, and changes none that feeds others', async () => {
    const [shared, own, other] = [await makeSource(itemsOf(1)), await makeSource([]), await makeSource([])]
    const [allowed, hidden] = [await makeWorkflow(), await makeWorkflow()]
    for (const { id } of [allowed, hidden]) await shared.sync({ workflow_id: id, field_mapping: WHO })
    await own.sync({ workflow_id: allowed.id, field_mapping: WHO })
    await other.sync({ workflow_id: hidden.id, field_mapping: WHO })
    const key = await org.keyFor(org.adminEmail, 'admin', { allowedWorkflowIds: [allowed.id] })
    const status = async (method: string, path: string, body?: unknown) =>
      (await app.call(key, method, `/sources/${path}`, body)).status

    const listed = (await app.call(key, 'GET', '/sources')).body.data
    expect(listed.map((one: { source_instance_id: string }) => one.source_instance_id).sort()).toEqual(
      [shared.id, own.id].sort(),
    )
    const shown = (await app.call(key, 'GET', `/sources/${shared.id}`)).body.data
    expect(shown.syncs).toMatchObject([{ workflow_id: allowed.id }])
    const again = { workflow_id: allowed.id, field_mapping: WHO }
    const matrix = async (id: string) => [
      await status('GET', id),
      await status('GET', `${id}/data`),
      await status('POST', `${id}/sync`, again),
      await status('PATCH', id, { max_credits: 5 }),
      await status('PATCH', `${id}/status`, { status: 'paused' }),
    ]
    expect(await matrix(own.id)).toEqual([200, 200, 201, 200, 200])
    expect(await matrix(shared.id)).toEqual([200, 200, 201, 403, 403])
    expect(await matrix(other.id)).toEqual([403, 403, 403, 403, 403])
    expect((await sources.show(org, other.id)).syncs).toMatchObject([{ workflow_id: hidden.id }])
  })

  it('a workflow that is deleted ends the sync', async () => {
    const source = await makeSource(itemsOf(1))
    const workflow = await makeWorkflow()
    await source.sync({ workflow_id: workflow.id, field_mapping: WHO })
    await org.call('DELETE', `/workflows/${workflow.id}`)
    await sources.deliver(org, source.id, workflow.id)
    expect((await sources.show(org, source.id)).syncs).toEqual([])
  })

  it('a removed input gets no more values', async () => {
    const source = await makeSource([{ id: 1, name: 'Ann', email: 'ann@acme.example' }])
    const workflow = await makeWorkflow()
    await source.sync({ workflow_id: workflow.id, field_mapping: { ...WHO, 'input.mail': 'email' } })
    await app.store.query({
      text: `update chain_revisions set definition = jsonb_set(definition, '{inputs}', (definition->'inputs') - 1)
        where sheet_id = $1`,
      values: [workflow.id],
    })
    await sources.deliver(org, source.id, workflow.id)
    expect((await workflow.rows()).length).toBe(1)
  })

  it('the health of the source says what each workflow got', async () => {
    const source = await makeSource(itemsOf(3))
    const workflow = await makeWorkflow()
    await source.sync({ workflow_id: workflow.id, field_mapping: WHO })
    expect((await sources.show(org, source.id)).syncs).toMatchObject([{ delivered: 0, waiting: 3 }])
    await sources.deliver(org, source.id, workflow.id)
    expect((await sources.show(org, source.id)).syncs).toEqual([
      {
        workflow_id: workflow.id,
        field_mapping: WHO,
        push_existing: true,
        on_change: 'ignore',
        delivered: 3,
        waiting: 0,
      },
    ])
  })
})

describe('DELETE /org/members', () => {
  it('warns of sources that lose their owner (SOURCES_LOST_OWNER)', async () => {
    const key = await org.keyFor('leaver@example.com', 'member')
    lists.set('theirs', { items: [] })
    const made = await app.call(key, 'POST', '/sources/paged_once', { list: 'theirs', name: 'Theirs' })
    const { body } = await org.call('DELETE', '/org/members?email=leaver%40example.com')
    const id = made.body.data.source_instance_id
    expect(body.data.warnings).toEqual([
      {
        code: 'SOURCES_LOST_OWNER',
        message: expect.stringContaining('1 source has no owner now'),
        resources: [{ id, name: 'Theirs', type: 'source' }],
      },
    ])
    expect((await sources.show(org, id)).status).toBe('active')
  })
})
