import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { openTransaction } from '#server/database/connection/open-transaction.ts'
import { claimCall } from '#server/organisation/store/idempotency.ts'
import { dump } from '#test/plumbing/database-dump.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { FORMULA, formula, makeWorkflow, publish, sheetOf } from '../testing/shortcut.ts'

const app = await makeApp()
const org = await app.makeOrg()
const invite = (email: string, key: string, as = org) =>
  as.call('POST', '/org/members', { email, role: 'member' }, { 'idempotency-key': key })

it('D14: the same key and payload replays the stored answer', async () => {
  const key = randomUUID()
  const first = await invite('once@example.com', key)
  const again = await invite('once@example.com', key)
  expect([first.status, again.status]).toEqual([201, 201])
  expect(again.body).toEqual(first.body)
  expect(first.headers['idempotency-replayed']).toBeUndefined()
  expect(again.headers['idempotency-replayed']).toBe('true')
})

it('D14: a secret shown once, as that of a budget, is replayed, and is nowhere in the database as plain text', async () => {
  const headers = { 'idempotency-key': randomUUID() }
  const body = { scope: 'organisation', period: 'day', limit: 1 }
  const first = await org.call('POST', '/credits/budgets', body, headers)
  const again = await org.call('POST', '/credits/budgets', body, headers)
  expect([first.status, again.headers['idempotency-replayed']]).toEqual([201, 'true'])
  expect(again.body).toEqual(first.body)
  const { webhook_secret } = first.body.data
  expect((await dump(app.store)).includes(webhook_secret)).toBe(false)
})

describe('D14, D78: a replayed answer names the run that the first one queued', async () => {
  const workflow = await makeWorkflow(org, [formula('1')])
  const sheet = sheetOf(workflow)
  await org.call('POST', `${sheet}/rows`, { rows: [{ n: 1 }] })
  const { shortcut_id } = await publish(app, org, workflow)

  it.each<[string, string, object]>([
    ['Add Rows', `${sheet}/rows`, { rows: [{ n: 2 }], run_after_add: 'all' }],
    ['Run Rows', `${sheet}/run`, { first_10: true }],
    ['Run All', `${sheet}/run-all`, {}],
    ['Run Action', `${sheet}/actions/${FORMULA}_1/run`, {}],
    ['a shortcut run', `/shortcuts/${shortcut_id}/run`, { input_data: { n: 3 } }],
    ['one that is waited for', `/shortcuts/${shortcut_id}/run?wait=1`, { input_data: { n: 4 } }],
    ['a batch', `/shortcuts/${shortcut_id}/run/batch`, { rows: [{ n: 5 }, { n: 6 }] }],
  ])('%s', async (_, path, body) => {
    // A row in flight would join the existing run (D21) and queue none, so the runs are stopped first.
    await org.call('POST', `${sheet}/stop`)
    const headers = { 'idempotency-key': randomUUID() }
    const [first, again] = [
      await org.call('POST', path, body, headers),
      await org.call('POST', path, body, headers),
    ]
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([first.status, 'true'])
    expect(first.headers['x-run-id']).toMatch(/^[0-9a-f-]{36}$/)
    expect([again.body, again.headers['x-run-id']]).toEqual([first.body, first.headers['x-run-id']])
  })

  it('also while the call still waits for the run', async () => {
    const key = randomUUID()
    const run = () =>
      org.call(
        'POST',
        `/shortcuts/${shortcut_id}/run?wait=2`,
        { input_data: { n: 7 } },
        { 'idempotency-key': key },
      )
    const waiting = run()
    // A call with the same key before the first has committed could be the first itself, or be refused with 409.
    const committed = () =>
      app.store.query({ text: 'select from idempotency_keys where key = $1', values: [key] })
    await expect.poll(committed).toHaveLength(1)
    const meanwhile = await run()
    expect(meanwhile.headers['idempotency-replayed']).toBe('true')
    expect((await waiting).headers['x-run-id']).toBe(meanwhile.headers['x-run-id'])
  })

  it('without a queued run the replay names none', async () => {
    const headers = { 'idempotency-key': randomUUID() }
    const add = () => org.call('POST', `${sheet}/rows`, { rows: [{ n: 8 }] }, headers)
    const [first, again] = [await add(), await add()]
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect([first.headers['x-run-id'], again.headers['x-run-id']]).toEqual([undefined, undefined])
  })
})

it('D14: a refusal that depends on stored data is not replayed', async () => {
  await invite('taken@example.com', randomUUID())
  const key = randomUUID()
  const first = await invite('taken@example.com', key)
  const same = await invite('taken@example.com', key)
  await org.call('DELETE', '/org/members?email=taken@example.com')
  const again = await invite('taken@example.com', key)
  const later = await invite('taken@example.com', key)
  expect([first.status, same.status, again.status, later.status]).toEqual([409, 409, 201, 201])
  expect(later.headers['idempotency-replayed']).toBe('true')
})

it('D8, D14: a path with a slash at its end is the same request, a query with a slash at its end is another', async () => {
  const headers = { 'idempotency-key': randomUUID() }
  const first = await org.call('POST', '/workflows', { name: 'Once' }, headers)
  const again = await org.call('POST', '/workflows/', { name: 'Once' }, headers)
  expect([again.status, again.headers['idempotency-replayed']]).toEqual([201, 'true'])
  expect(again.body).toEqual(first.body)
  const other = await org.call('POST', '/workflows?x=/', { name: 'Once' }, headers)
  expect(other.status).toBe(422)
})

it('D14: a different payload is 422', async () => {
  const key = randomUUID()
  await invite('a@example.com', key)
  const { status, body } = await invite('b@example.com', key)
  expect([status, body.error]).toEqual([422, 'Unprocessable Entity'])
})

it('D14: of concurrent ones exactly one works, the others are 409 or replay it', async () => {
  const key = randomUUID()
  const answers = await Promise.all(Array.from({ length: 8 }, () => invite('race@example.com', key)))
  const invited = answers.filter((answer) => answer.status === 201)
  expect(invited.length).toBeGreaterThan(0)
  expect(answers.every((answer) => answer.status === 201 || answer.status === 409)).toBe(true)
  expect(new Set(invited.map((answer) => JSON.stringify(answer.body))).size).toBe(1)
  const waiting = answers.filter((answer) => answer.status === 409)
  expect(waiting.every((answer) => answer.body.error === 'Conflict')).toBe(true)
})

it('D14: the 409 of a key in progress has a Retry-After', async () => {
  const key = randomUUID()
  const holding = await openTransaction(app.store.system)
  const holder = await app.store.system
    .selectFrom('api_keys')
    .select(['member_id', 'key_id'])
    .where('org_id', '=', org.orgId)
    .executeTakeFirstOrThrow()
  const { sealer } = app.services
  const named = { orgId: org.orgId, memberId: holder.member_id ?? '', keyId: holder.key_id }
  const call = { ...named, key, fingerprint: Buffer.alloc(32), sealer }
  await claimCall(holding.trx, call)
  const waiting = await invite('later@example.com', key)
  await holding.rollback()
  expect([waiting.status, waiting.headers['retry-after']]).toEqual([409, '1'])
  expect((await invite('later@example.com', key)).status).toBe(201)
})

it.each([
  ['a workflow', (id: string) => `/workflows/${id}`],
  ['an action', (id: string) => `/workflows/${id}/sheets/${id}/actions/normalize_domain_1`],
  ['an input', (id: string) => `/workflows/${id}/sheets/${id}/inputs/site`],
])('D14: a DELETE of %s with a key replays its answer; without the key it is gone', async (_, pathOf) => {
  const id = (await org.call('POST', '/workflows', { name: 'W' })).body.data.workflow_id
  await org.call('POST', `/workflows/${id}/sheets/${id}/inputs`, [{ name: 'site', type: 'url' }])
  await org.call('POST', `/workflows/${id}/sheets/${id}/actions/add`, { action_id: 'normalize_domain' })
  const remove = (key: string) => org.call('DELETE', pathOf(id), undefined, { 'idempotency-key': key })
  const key = randomUUID()
  const [first, again] = [await remove(key), await remove(key)]
  expect([first.status, first.headers['idempotency-replayed']]).toEqual([200, undefined])
  expect([again.status, again.headers['idempotency-replayed']]).toEqual([200, 'true'])
  expect(again.body).toEqual(first.body)
  expect((await remove(randomUUID())).status).toBe(404)
  expect((await org.call('DELETE', pathOf(id))).status).toBe(404)
  // The same key used by another member is another call.
  const other = await org.keyFor('other@example.com', 'admin')
  const theirs = await app.call(other, 'DELETE', pathOf(id), undefined, { 'idempotency-key': key })
  expect(theirs.status).toBe(404)
})

it('D14: a refusal of the request itself is replayed, and binds its key to nothing', async () => {
  const key = randomUUID()
  const [first, again] = [await invite('not an address', key), await invite('not an address', key)]
  expect([first.status, first.headers['idempotency-replayed']]).toEqual([400, undefined])
  expect([again.status, again.headers['idempotency-replayed']]).toEqual([400, 'true'])
  expect(again.body).toEqual(first.body)
  const mended = await invite('an.address@example.com', key)
  expect([mended.status, mended.headers['idempotency-replayed']]).toEqual([201, undefined])
  const bad = await invite('not an address', key)
  expect([bad.status, bad.headers['idempotency-replayed']]).toEqual([400, undefined])
  const kept = await invite('an.address@example.com', key)
  expect([kept.status, kept.headers['idempotency-replayed']]).toEqual([201, 'true'])
  expect(kept.body).toEqual(mended.body)
})

it('D14: a refusal of the query is replayed too', async () => {
  const workflow = await makeWorkflow(org, [formula('1')])
  const { shortcut_id } = await publish(app, org, workflow)
  const key = randomUUID()
  const run = (wait: string) =>
    org.call('POST', `/shortcuts/${shortcut_id}/run?wait=${wait}`, {}, { 'idempotency-key': key })
  const [first, again] = [await run('long'), await run('long')]
  expect([first.status, first.headers['idempotency-replayed']]).toEqual([400, undefined])
  expect([again.status, again.headers['idempotency-replayed']]).toEqual([400, 'true'])
  expect(again.body).toEqual(first.body)
})

it('D14: a refusal of the body that also depends on stored data is not replayed', async () => {
  const workflow = (await org.call('POST', '/workflows', { name: 'W' })).body.data.workflow_id
  const headers = { 'idempotency-key': randomUUID() }
  const add = () =>
    org.call(
      'POST',
      `/workflows/${workflow}/sheets/${workflow}/actions/add`,
      { action_id: 'filter', after: 'normalize_domain_1', name: 5 },
      headers,
    )
  const first = await add()
  expect(first.body.errors.map((error: { field: string }) => error.field)).toEqual(['name', 'after'])
  await org.call('POST', `/workflows/${workflow}/sheets/${workflow}/actions/add`, {
    action_id: 'normalize_domain',
  })
  const again = await add()
  expect([again.status, again.headers['idempotency-replayed']]).toEqual([400, undefined])
  expect(again.body.errors.map((error: { field: string }) => error.field)).toEqual(['name'])
  expect((await add()).headers['idempotency-replayed']).toBe('true')
})

it('D14: a refusal and another request with the same key do not wait for each other', async () => {
  const key = randomUUID()
  const answers = await Promise.all(Array.from({ length: 8 }, () => invite('nobody', key)))
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 400))
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1)
  expect((await invite('nobody', key)).headers['idempotency-replayed']).toBe('true')
})

it('a long refusal is computed again instead of stored', async () => {
  const key = randomUUID()
  const inputs = Array.from({ length: 60 }, () => ({ name: 5, type: 'none', description: 5 }))
  const workflow = (await org.call('POST', '/workflows', { name: 'W' })).body.data.workflow_id
  const path = `/workflows/${workflow}/sheets/${workflow}/inputs`
  const send = () => org.call('POST', path, inputs, { 'idempotency-key': key })
  const [first, again] = [await send(), await send()]
  expect(JSON.stringify(first.body).length).toBeGreaterThan(4096)
  expect([first.status, again.status, again.headers['idempotency-replayed']]).toEqual([400, 400, undefined])
  expect(again.body).toEqual(first.body)
})

it('D99: another key of the same member may use the same words, with another body too', async () => {
  const second = await org.keyFor(org.adminEmail, 'admin')
  const headers = { 'idempotency-key': randomUUID() }
  const create = (key: string, name: string) => app.call(key, 'POST', '/workflows', { name }, headers)
  const answers = [
    await create(org.key, 'One'),
    await create(second, 'Two'),
    await create(org.key, 'One'),
    await create(second, 'Two'),
  ]
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201])
  expect(answers.map(({ headers: { 'idempotency-replayed': replayed } }) => replayed)).toEqual([
    undefined,
    undefined,
    'true',
    'true',
  ])
  expect(answers[0]?.body.data.workflow_id).not.toBe(answers[1]?.body.data.workflow_id)
})

it('the same key in another organisation is another key', async () => {
  const other = await app.makeOrg()
  const key = randomUUID()
  await invite('same@example.com', key)
  const answer = await invite('same@example.com', key, other)
  expect([answer.status, answer.headers['idempotency-replayed']]).toEqual([201, undefined])
})

it('a key is forgotten after 24 hours', async () => {
  const key = randomUUID()
  await invite('day@example.com', key)
  await app.store.query({
    text: `update idempotency_keys set created_at = now() - interval '25 hours' where key = $1`,
    values: [key],
  })
  expect((await invite('day@example.com', key)).body.error).toBe('ALREADY_INVITED')
})

it.each(['', 'x'.repeat(256)])('a malformed Idempotency-Key is 400', async (key) => {
  const { status, body } = await invite('m@example.com', key)
  expect([status, body.errors?.[0].field]).toEqual([400, 'Idempotency-Key'])
})
