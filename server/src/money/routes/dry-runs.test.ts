import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { done } from '#server/catalog/outcome.ts'
import { loadCatalogue } from '#server/catalog/registry.ts'
import { storeUpload } from '#server/files/uploads.ts'
import { newId } from '#server/lib/ids.ts'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { makePaidSheet, paidAction } from '#test/builders/paid-action.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { publish } from '../../api/testing/shortcut.ts'

let calls = 0
const paid = paidAction((text) => {
  calls += 1
  return done({ value: text })
})
const catalogue = catalogueOf(paid, ...(await loadCatalogue()).list())
// No server listens at the model's address: a dry run sends no request.
const settings = { LOAM_MODEL_BASE_URL: 'http://127.0.0.1:1/v1' }
const app = await makeApp({ services: { catalogue }, settings })
await startTestWorker(app)
const org = await app.makeOrg()
const ROWS = ['a', 'b', ''].map((x) => ({ x }))

const base = await makePaidSheet(org)
const workflow_id = base.slice(-36)
const ids: string[] = (await org.call('POST', `${base}/rows`, { rows: ROWS })).body.data.row_ids
// The first request for prices records them.
await org.call('GET', '/credits/prices')
const shortcut = `/shortcuts/${(await publish(app, org, workflow_id)).shortcut_id}`
// The shortcut costs what its frozen definition costs.
await org.call('POST', `${base}/actions/add`, { action_id: 'paid', inputs: { text: '{{paid_1.value}}' } })
const upload = { orgId: org.orgId, name: 'xs.csv', createdBy: org.adminEmail }
const { file_ref } = await storeUpload(
  { db: app.store.system, storage: app.services.storage },
  upload,
  Readable.from([Buffer.from('X\n1\n2\n3\n4\n')]),
)

/** Counts the rows of all tables that a call could have written. */
async function countAll(): Promise<Json> {
  const { rows: tables } = await sql<{ name: string }>`select tablename as name from pg_tables
    where schemaname = 'public' and tablename not in ('workers', 'api_keys') order by 1`.execute(
    app.store.system,
  )
  const counts = tables.map(
    ({ name }) => sql`select ${name} as name, count(*)::int as count from ${sql.table(name)}`,
  )
  const { rows } = await sql`${sql.join(counts, sql` union all `)}`.execute(app.store.system)
  return rows
}

/** Returns true if nothing is written for a while. */
async function isIdle(): Promise<boolean> {
  const before = await countAll()
  await sleep(300)
  return isDeepStrictEqual(await countAll(), before)
}

type Case = [name: string, path: string, body: object, expected: { rows: number; at_most: number }]
const CASES: Case[] = [
  ['run', `${base}/run`, { row_ids: ids.slice(0, 1) }, { rows: 1, at_most: 4 }],
  ['run of filters', `${base}/run`, { first_10: true }, { rows: 3, at_most: 8 }],
  ['run-all', `${base}/run-all`, {}, { rows: 3, at_most: 8 }],
  ['actions/{id}/run', `${base}/actions/paid_1/run`, { row_ids: ids }, { rows: 3, at_most: 4 }],
  ['rows that run', `${base}/rows`, { rows: ROWS, run_after_add: 'all' }, { rows: 3, at_most: 8 }],
  ['rows that do not run', `${base}/rows`, { rows: ROWS }, { rows: 0, at_most: 0 }],
  [
    'csv',
    `${base}/csv`,
    { file_ref, mapping: { X: 'x' }, run_after_import: 'all' },
    { rows: 4, at_most: 16 },
  ],
  ['csv that does not run', `${base}/csv`, { file_ref, mapping: { X: 'x' } }, { rows: 0, at_most: 0 }],
  ['shortcut run', `${shortcut}/run`, { input_data: { x: 'a' } }, { rows: 1, at_most: 2 }],
  ['shortcut batch', `${shortcut}/run/batch`, { rows: [{ x: 'a' }, { x: 'b' }] }, { rows: 2, at_most: 4 }],
  ['agent/run', '/agent/run', { prompt: 'Who?' }, { rows: 1, at_most: 5 }],
]

describe('M4: dry_run returns 200 with its Estimate; nothing is written or called', () => {
  it.each(CASES)('%s', async (_name, path, body, { rows, at_most }) => {
    const before = await countAll()
    const key = { 'idempotency-key': newId() }
    const dry = { ...body, dry_run: true, max_credits: 1000 }
    const answer = await org.call('POST', path, dry, key)
    expect([answer.status, answer.body.errors]).toEqual([200, undefined])
    expect(answer.body.data).toMatchObject({ rows, precision: 'exact', credits: { at_most } })
    expect(answer.body.data.limits[0]).toEqual({
      kind: 'max_credits',
      remaining: 1000,
      covers: 'at_most',
    })
    expect(answer.headers['x-run-id']).toBeUndefined()
    // The idempotency key is still free: an estimate is made again, and the same key may be sent with the call itself.
    const again = await org.call('POST', path, { ...dry, max_credits: 0 }, key)
    expect(again.body.data.limits[0].covers).toBe(at_most === 0 ? 'at_most' : 'none')
    expect(await countAll()).toEqual(before)
    expect(calls).toBe(0)
    expect((await org.call('GET', '/credits')).body.data.held).toBe(0)
  })

  it.each<[string, string, object, number]>([
    ['a row that is not there', `${base}/run`, { row_ids: [newId()] }, 400],
    ['no selector', `${base}/run`, {}, 400],
    ['a file that is not there', `${base}/csv`, { file_ref: 'no.csv', mapping: { X: 'x' } }, 400],
    ['an input that is not there', `${base}/csv`, { file_ref, mapping: { X: 'y' } }, 400],
    ['a field of a shortcut', `${shortcut}/run`, { input_data: { z: 'a' } }, 400],
    ['a run that is not there', `${base}/runs/${newId()}/resume`, {}, 404],
    ['dry_run that is no boolean', `${base}/run-all`, { dry_run: 'yes' }, 400],
  ])('its checks come first: %s', async (_name, path, body, status) => {
    const answer = await org.call('POST', path, { dry_run: true, ...body })
    expect(answer.status).toBe(status)
  })

  it('rows that would be refused are named in warnings', async () => {
    const rows = [{ x: 'a' }, { y: 'b' }]
    const { body } = await org.call('POST', `${base}/rows`, { rows, run_after_add: 'all', dry_run: true })
    expect(body.data.rows).toBe(1)
    expect(body.warnings.map(({ field }: Json) => field)).toContainEqual(expect.stringContaining('rows[1]'))
  })

  it('a file that cannot be read is 400', async () => {
    const { file_ref: torn } = await storeUpload(
      { db: app.store.system, storage: app.services.storage },
      upload,
      Readable.from([Buffer.from('X\n"1\n2\n')]),
    )
    const body = { file_ref: torn, mapping: { X: 'x' }, run_after_import: 'all', dry_run: true }
    const answer = await org.call('POST', `${base}/csv`, body)
    expect([answer.status, answer.body.errors?.[0]?.field]).toEqual([400, 'file_ref'])
  })

  it('M7: resume estimates the rows that would go on, from the cell on at which each ended', async () => {
    const other = `/workflows/${(await org.call('POST', '/workflows', { name: 'Resumed' })).body.data.workflow_id}`
    const sheet = `${other}/sheets/${other.slice(-36)}`
    await org.call('POST', `${sheet}/inputs`, [{ name: 'x', type: 'string' }])
    for (const text of ['{{input.x}}', '{{paid_1.value}}'])
      await org.call('POST', `${sheet}/actions/add`, { action_id: 'paid', inputs: { text } })
    await org.call('POST', `${sheet}/rows`, { rows: [{ x: 'a' }, { x: 'b' }] })
    await org.call('PATCH', sheet, { cache_enabled: false })
    const started = await org.call('POST', `${sheet}/run-all`, { max_credits: 3 })
    await settledRows(org, sheet)
    const resume = `${sheet}/runs/${String(started.headers['x-run-id'])}/resume`
    const run = async () => (await org.call('GET', resume.slice(0, -'/resume'.length))).body.data
    await expect.poll(async () => (await run()).state).toBe('finished')
    // A moment later, the credits of the cap that its worker held are given back.
    await expect.poll(isIdle).toBe(true)
    const before = [await run(), await countAll()]
    // One row has paid for its first cell, the other for none.
    const dry = (await org.call('POST', resume, { dry_run: true, max_credits: 10 })).body
    expect(dry.data).toMatchObject({ rows: 2, cells: { total: 3 }, credits: { at_most: 6 } })
    expect(dry.data.actions.map(({ cells }: Json) => cells).toSorted()).toEqual([1, 2])
    expect(dry.data.limits[0]).toEqual({ kind: 'max_credits', remaining: 8, covers: 'at_most' })
    expect((await org.call('POST', resume, { dry_run: true, max_credits: 1 })).status).toBe(400)
    expect([await run(), await countAll()]).toEqual(before)
    await org.call('POST', resume, { max_credits: 10 })
    await settledRows(org, sheet)
    await expect.poll(async () => (await run()).state).toBe('finished')
    expect((await run()).credits).toBe(8)
    const nothing = (await org.call('POST', resume, { dry_run: true })).body.data
    expect([nothing.rows, nothing.credits.at_most]).toEqual([0, 0])
  })
})

describe('402: how much was needed, how much was there, and what to do', () => {
  const ask = (as: typeof org, body: object = {}) =>
    as.call('POST', '/agent/run', { prompt: 'Who?', ...body })
  const setBalance = (as: typeof org, millis: number) =>
    sql`update organisations set credits_millis = ${millis} where org_id = ${as.orgId}`.execute(
      app.store.system,
    )

  it.each<[string, (as: typeof org) => Promise<Json>, string, string[]]>([
    [
      'the cap',
      (as) => ask(as, { max_credits: 2.5 }),
      'MAX_CREDITS_REACHED',
      ['costs 5 credits', '(2.5)', 'raise it to 5'],
    ],
    [
      'a budget',
      async (as) => {
        await as.call('POST', '/credits/budgets', {
          scope: 'organisation',
          period: 'day',
          limit: 4.125,
          name: 'Trial',
          emails: [],
        })
        return ask(as)
      },
      'BUDGET_REACHED',
      [
        'costs 5 credits',
        '4.125 are left of the budget "Trial"',
        'raise the budget, or wait for its next period',
      ],
    ],
    [
      'the balance',
      async (as) => {
        await setBalance(as, 3001)
        return ask(as)
      },
      'INSUFFICIENT_CREDITS',
      ['costs 5 credits', '3.001 are left of the balance', 'grant credits'],
    ],
  ])('%s', async (_what, call, code, words) => {
    const answer = await call(await app.makeOrg())
    expect([answer.status, answer.body.error]).toEqual([402, code])
    for (const part of words) expect(answer.body.message).toContain(part)
  })
})
