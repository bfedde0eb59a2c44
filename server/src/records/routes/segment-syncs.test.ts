import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { makeSynced, makeSyncApp } from '#server/records/syncs/testing/sync-app.ts'
import type { Json, TestOrg } from '#test/plumbing/harness.ts'

const syncs = await makeSyncApp()
const { app } = syncs
let org: TestOrg
let segmentId: string
let workflow: Awaited<ReturnType<typeof syncs.makeWorkflow>>
beforeAll(async () => {
  org = await app.makeOrg()
  segmentId = await syncs.makeSegment(org)
  workflow = await syncs.makeWorkflow(org)
})

const WHO = { 'input.who': 'name' }
const UUID = expect.stringMatching(/^[0-9a-f-]{36}$/)

describe('POST /records/segments/{segment_id}/sync', () => {
  it('M4: dry_run returns the cost of the current members, and syncs nothing', async () => {
    const target = await syncs.makeWorkflow(org)
    const body = { workflow_id: target.id, field_mapping: WHO, push_existing: true, dry_run: true }
    const dry = await syncs.sync(org, segmentId, { ...body, run: 'all', max_credits: 5 })
    expect([dry.status, dry.body.data.limits[0].kind]).toEqual([200, 'max_credits'])
    expect((await syncs.sync(org, segmentId, { ...body, field_mapping: { nobody: 'name' } })).status).toBe(
      400,
    )
    expect((await syncs.sync(org, segmentId, { ...body, dry_runn: true })).status).toBe(400)
    expect((await org.call('GET', '/records/syncs')).body.data).toEqual([])
  })

  it('answers the sync and its destination; creating again adds a destination (reused_sync)', async () => {
    const first = await syncs.sync(org, segmentId, { workflow_id: workflow.id, field_mapping: WHO })
    expect([first.status, first.body]).toEqual([
      201,
      {
        status: 201,
        data: {
          sync_id: UUID,
          connection_id: UUID,
          segment_id: segmentId,
          workflow_id: workflow.id,
          entity_kinds: ['company'],
          reused_sync: false,
        },
      },
    ])
    const other = await syncs.makeWorkflow(org)
    const second = await syncs.sync(org, segmentId, {
      workflow_id: other.id.toUpperCase(),
      field_mapping: { ...WHO, 'input.Site': 'domain' },
      run: 'all',
      reentry_mode: 'repush',
    })
    expect(second.body.data).toMatchObject({ sync_id: first.body.data.sync_id, reused_sync: true })
    const { body } = await org.call('GET', `/records/syncs/${first.body.data.sync_id}`)
    const zero = { delivered: 0, pending: 0, held: 0, failed: 0 }
    expect(body).toEqual({
      status: 200,
      data: {
        sync_id: first.body.data.sync_id,
        segment_id: segmentId,
        state: 'active',
        entity_kinds: ['company'],
        held_count: 0,
        held_reason: null,
        last_import_error: null,
        last_cycle_at: null,
        destinations: [
          {
            connection_id: first.body.data.connection_id,
            workflow_id: workflow.id,
            state: 'active',
            run: 'none',
            reentry_mode: 'suppress',
            ...zero,
          },
          {
            connection_id: second.body.data.connection_id,
            workflow_id: other.id,
            state: 'active',
            run: 'all',
            reentry_mode: 'repush',
            ...zero,
          },
        ],
      },
    })
    expect((await org.call('GET', '/records/syncs')).body.data).toEqual([body.data])
  })

  it.each<[string, Json, string]>([
    ['no workflow_id', { field_mapping: WHO }, 'workflow_id'],
    ['a workflow_id that is no UUID', { workflow_id: 'w', field_mapping: WHO }, 'workflow_id'],
    ['no field_mapping', {}, 'field_mapping'],
    ['an empty field_mapping', { field_mapping: {} }, 'field_mapping'],
    ['a key matching no input', { field_mapping: { 'input.nobody': 'name' } }, 'field_mapping.input.nobody'],
    ['a key in another case', { field_mapping: { 'input.site': 'name' } }, 'field_mapping.input.site'],
    ['a key without input.', { field_mapping: { who: 'name' } }, 'field_mapping.who'],
    ['a key with braces', { field_mapping: { '{{input.who}}': 'name' } }, 'field_mapping.{{input.who}}'],
    ['a padded key', { field_mapping: { ' input.who': 'name' } }, 'field_mapping. input.who'],
    ['an empty field name', { field_mapping: { 'input.who': '' } }, 'field_mapping.input.who'],
    ['a field name that is no text', { field_mapping: { 'input.who': 1 } }, 'field_mapping.input.who'],
    ['run: some', { field_mapping: WHO, run: 'some' }, 'run'],
    ['reentry_mode: never', { field_mapping: WHO, reentry_mode: 'never' }, 'reentry_mode'],
    ['push_existing: "yes"', { field_mapping: WHO, push_existing: 'yes' }, 'push_existing'],
    ['a cap that is not known here', { field_mapping: WHO, max_credit: 5 }, 'max_credit'],
  ])('%s is 400 that names the field', async (what, given, field) => {
    const body = what.includes('workflow_id') ? given : { workflow_id: workflow.id, ...given }
    const answer = await syncs.sync(org, segmentId, body)
    expect([answer.status, answer.body.errors[0].field]).toEqual([400, field])
  })

  it('D53: a workflow without inputs is 400', async () => {
    const { body } = await org.call('POST', '/workflows', { name: 'Empty' })
    const { workflow_id } = body.data
    const answer = await syncs.sync(org, segmentId, { workflow_id, field_mapping: WHO })
    expect([answer.status, answer.body.errors[0].field]).toEqual([400, 'workflow_id'])
  })

  it('a field that no member has so far is a warning', async () => {
    const { status, body } = await syncs.sync(org, segmentId, {
      workflow_id: workflow.id,
      field_mapping: { 'input.who': 'nmae', 'input.Site': 'domain' },
    })
    expect([status, body.warnings]).toEqual([
      201,
      [
        {
          field: 'field_mapping.input.who',
          code: 'unknown_field',
          message: expect.stringContaining('industry'),
        },
      ],
    ])
  })

  it('the same Idempotency-Key connects once', async () => {
    const target = await syncs.makeWorkflow(org)
    const body = { workflow_id: target.id, field_mapping: WHO }
    const path = `/records/segments/${segmentId}/sync`
    const send = (given: object) => org.call('POST', path, given, { 'idempotency-key': `sync ${target.id}` })
    const first = await send(body)
    const again = await send(body)
    expect([again.status, again.body, again.headers['idempotency-replayed']]).toEqual([
      201,
      first.body,
      'true',
    ])
    expect((await send({ ...body, run: 'all' })).status).toBe(422)
  })

  it('many at once make one sync', async () => {
    const fresh = await syncs.makeSegment(org)
    const targets = await Promise.all([1, 2, 3, 4].map(() => syncs.makeWorkflow(org)))
    const answers = await Promise.all(
      targets.map(({ id }) => syncs.sync(org, fresh, { workflow_id: id, field_mapping: WHO })),
    )
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    expect(new Set(answers.map(({ body }) => body.data.sync_id)).size).toBe(1)
    expect(answers.filter(({ body }) => !body.data.reused_sync)).toHaveLength(1)
  })
})

describe('calls in the wrong state', () => {
  it.each<[string, string, Json, number]>([
    ['confirm', 'an active sync', { choice: 'push' }, 409],
    ['confirm', 'an active sync, without a choice', {}, 400],
    ['confirm', 'an active sync, with another choice', { choice: 'maybe' }, 400],
    ['resume', 'an active sync', undefined, 200],
    [`destinations/${randomUUID()}/pause`, 'an unknown destination', undefined, 404],
    ['destinations/nonsense/pause', 'a destination that is no UUID', undefined, 400],
  ])('%s of %s', async (path, _what, body, status) => {
    const sync = await makeSynced(syncs, {}, org)
    expect((await org.call('POST', `${sync.path}/${path}`, body)).status).toBe(status)
  })

  it('a second pause or resume changes nothing; a resume while members are held is 409', async () => {
    const sync = await makeSynced(syncs, {}, org)
    for (const state of ['paused', 'paused'] as const) {
      expect((await sync.pause()).body.data.destinations[0].state).toBe(state)
    }
    expect((await sync.resumeDestination('skip')).body.data.destinations[0].state).toBe('active')
    expect((await sync.resumeDestination('maybe')).status).toBe(400)
    expect((await sync.resumeDestination()).status).toBe(200)
    const text = `update segment_syncs set state = 'pending_confirmation', held_reason = 'flood' where sync_id = $1`
    await app.store.query({ text, values: [sync.syncId] })
    expect((await sync.resume()).status).toBe(409)
  })
})

/** Every endpoint on a sync with two destinations, and the destinations that it affects. */
const ENDPOINTS: [string, string, (ids: Ids) => string, Json, 'read' | 'whole' | 'mine' | 'other'][] = [
  ['Get Sync', 'GET', ({ sync }) => sync, undefined, 'read'],
  ['Delete Sync', 'DELETE', ({ sync }) => sync, undefined, 'whole'],
  ['Resume Sync', 'POST', ({ sync }) => `${sync}/resume`, undefined, 'whole'],
  ['Confirm', 'POST', ({ sync }) => `${sync}/confirm`, { choice: 'skip' }, 'whole'],
  ['Pause', 'POST', ({ sync, mine }) => `${sync}/destinations/${mine}/pause`, undefined, 'mine'],
  ['Resume', 'POST', ({ sync, mine }) => `${sync}/destinations/${mine}/resume`, {}, 'mine'],
  ['Pause another', 'POST', ({ sync, other }) => `${sync}/destinations/${other}/pause`, undefined, 'other'],
  ['Resume another', 'POST', ({ sync, other }) => `${sync}/destinations/${other}/resume`, {}, 'other'],
]
type Ids = { sync: string; mine: string; other: string }

describe('access', () => {
  let ids: Ids
  let keys: Record<string, string>
  let mineId: string
  beforeAll(async () => {
    const sync = await makeSynced(syncs, {}, org)
    const member = await org.keyFor('member@example.com', 'member')
    const mine = await syncs.makeWorkflow(org, member)
    mineId = mine.id
    const body = { workflow_id: mine.id, field_mapping: WHO }
    const added = await syncs.sync(org, sync.segmentId, body, member)
    ids = { sync: sync.path, mine: added.body.data.connection_id, other: sync.connectionId }
    const narrowedTo = (...allowedWorkflowIds: string[]) =>
      org.keyFor(org.adminEmail, 'admin', { allowedWorkflowIds })
    keys = {
      'a key for one of the workflows': await narrowedTo(mine.id),
      'a member with access to one of them': member,
      'a key for another workflow': await narrowedTo(workflow.id),
      'another organisation': (await app.makeOrg()).key,
      'a key without the scope': await org.keyFor(org.adminEmail, 'admin', { scopes: ['workflows:read'] }),
    }
  })

  const PART = { read: 200, whole: 403, mine: 200, other: 403 }
  const none = (status: number) => ({ read: status, whole: status, mine: status, other: status })
  const EXPECTED: [string, Record<'read' | 'whole' | 'mine' | 'other', number>][] = [
    ['a key for one of the workflows', PART],
    ['a member with access to one of them', PART],
    ['a key for another workflow', none(403)],
    ['another organisation', none(404)],
    ['a key without the scope', none(403)],
  ]
  const cases = EXPECTED.flatMap(([who, statuses]) =>
    ENDPOINTS.map(([name, method, pathOf, body, concerns]) => ({
      who,
      name,
      method,
      pathOf,
      body,
      status: statuses[concerns],
    })),
  )

  it.each(cases)('$who: $name is $status', async ({ who, method, pathOf, body, status }) => {
    const answer = await app.call(keys[who] ?? null, method, pathOf(ids), body)
    expect(answer.status).toBe(status)
    if (status !== 200) return
    expect(answer.body.data.destinations).toMatchObject([{ connection_id: ids.mine, workflow_id: mineId }])
  })

  it('a restricted key lists only syncs with a permitted destination, and only those destinations', async () => {
    const { body } = await app.call(keys['a key for one of the workflows'] ?? null, 'GET', '/records/syncs')
    expect(body.data).toMatchObject([{ destinations: [{ workflow_id: mineId }] }])
    expect((await app.call(keys['another organisation'] ?? null, 'GET', '/records/syncs')).body.data).toEqual(
      [],
    )
  })

  it.each([
    ["another organisation's segment", () => keys['another organisation'], 404],
    ['a workflow that the key is not narrowed to', () => keys['a key for another workflow'], 403],
    ['a key without the scope', () => keys['a key without the scope'], 403],
  ])('syncing %s is refused', async (_what, key, status) => {
    const answer = await syncs.sync(org, segmentId, { workflow_id: mineId, field_mapping: WHO }, key())
    expect(answer.status).toBe(status)
  })

  it.each([
    ['POST', `/records/segments/${randomUUID()}/sync`, 404],
    ['POST', '/records/segments/nonsense/sync', 400],
    ['GET', `/records/syncs/${randomUUID()}`, 404],
    ['GET', '/records/syncs/nonsense', 400],
    ['DELETE', '/records/syncs/nonsense', 400],
  ])('%s %s is %i', async (method, path, status) => {
    const body = method === 'POST' ? { workflow_id: workflow.id, field_mapping: WHO } : undefined
    expect((await org.call(method, path, body)).status).toBe(status)
  })

  it("another organisation's workflow is 404", async () => {
    const stranger = await app.makeOrg()
    const theirs = await syncs.makeWorkflow(stranger)
    expect((await syncs.sync(org, segmentId, { workflow_id: theirs.id, field_mapping: WHO })).status).toBe(
      404,
    )
  })

  it('the text of an error at a destination is hidden from a key that may not see it', async () => {
    const error = {
      message: `Workflow ${workflow.id} no longer exists`,
      at: new Date().toISOString(),
      connection_id: ids.other,
    }
    const text = `update segment_syncs set last_import_error = $1 where sync_id = $2`
    await app.store.query({ text, values: [JSON.stringify(error), ids.sync.slice(-36)] })
    const { body } = await app.call(keys['a key for one of the workflows'] ?? null, 'GET', ids.sync)
    expect(body.data.last_import_error.message).not.toContain(workflow.id)
    expect((await org.call('GET', ids.sync)).body.data.last_import_error.message).toContain(workflow.id)
  })
})
