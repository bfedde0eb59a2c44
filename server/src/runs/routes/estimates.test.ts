import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { done, failed } from '#server/catalog/outcome.ts'
import { loadCatalogue } from '#server/catalog/registry.ts'
import { setPrice } from '#server/money/prices.ts'
import { grantCredits } from '#server/money/store/credits.ts'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { makePaidSheet, PAID, paidAction } from '#test/builders/paid-action.ts'
import { predict, serveProviders } from '#test/builders/waterfall-model.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'

/** An action that costs two credits, unless the text begins with `bad`. */
const paid = paidAction((text) => (text.startsWith('bad') ? failed('bad') : done({ value: text })))
const providers = await serveProviders()
afterAll(() => providers.close())
const real = await loadCatalogue()
const catalogue = catalogueOf(paid, ...real.list())
const app = await makeApp({ services: { catalogue }, settings: providers.settings })
await startTestWorker(app)
const org = await app.makeOrg()
await app.store.system
  .transaction()
  .execute((trx) => grantCredits(trx, org.orgId, { amountMillis: 10_000_000, reason: 'test' }))

type Step = { action_id: string; inputs: object; run_if?: object }

async function makeSheet(steps: Step[], rows: Record<string, unknown>[] = [], settings: object = {}) {
  const base = await makePaidSheet(org, { inputs: ['x', 'name'], steps, settings })
  const added = rows.length === 0 ? [] : (await org.call('POST', `${base}/rows`, { rows })).body.data.row_ids
  return { base, workflowId: base.slice(-36), ids: added as string[] }
}
const estimate = async (base: string, body: object = { all: true }) =>
  (await org.call('POST', `${base}/estimate`, body)).body
const WATERFALL: Step = {
  action_id: 'person_work_email_waterfall',
  inputs: {
    full_name: '{{input.name}}',
    company_domain: 'acme.example',
    email_providers: ['Hunter', 'Datagma', 'Findymail'],
    email_validation: ['None'],
  },
}
const onlyIf = (variable: string, value: string) => ({
  conditions: [{ conditions: [{ variable, operator: 'is equal to', values: [value] }] }],
})
const rowsOf = (...texts: string[]) => texts.map((x, n) => ({ x, name: `person${n} Lee` }))

async function billOf(base: string, body: object): Promise<number> {
  const before = (await org.call('GET', '/credits')).body.data.balance
  expect((await org.call('POST', `${base}/run`, body)).status).toBe(200)
  await settledRows(org, base)
  return Math.round((before - (await org.call('GET', '/credits')).body.data.balance) * 1000) / 1000
}

describe('M1: each cell has one class', () => {
  it.each<[string, Step[], Record<string, unknown>[], object, object]>([
    ['billable', [PAID], rowsOf('a', 'b', 'c'), { billable: 3 }, { expected: 6, at_most: 6 }],
    [
      'free',
      [{ action_id: 'format_data_using_js_expression', inputs: { data_formatter: '{{input.x}}' } }],
      rowsOf('a', 'b'),
      { free: 2 },
      { expected: 0, at_most: 0 },
    ],
    [
      'skipped: its condition on known values is not met, and what is behind it',
      [{ ...PAID, run_if: onlyIf('{{input.x}}', 'a') }, PAID],
      rowsOf('a', 'b'),
      { billable: 2, skipped: 2 },
      { expected: 4, at_most: 4 },
    ],
    [
      'skipped: an input is missing, and what is behind it',
      [PAID, PAID],
      rowsOf('a', ''),
      { billable: 2, skipped: 2 },
      { expected: 4, at_most: 4 },
    ],
    [
      'skipped: behind a filter that the row does not pass',
      [{ action_id: 'filter', inputs: { path_conditions: onlyIf('{{input.x}}', 'a').conditions } }, PAID],
      rowsOf('a', 'b'),
      { free: 2, billable: 1, skipped: 1 },
      { expected: 2, at_most: 2 },
    ],
    [
      'what depends on a result of the run may run',
      [PAID, { ...PAID, inputs: { text: '{{paid_1.value}}' }, run_if: onlyIf('{{paid_1.value}}', 'a') }],
      rowsOf('a', 'b'),
      { billable: 4 },
      { expected: 8, at_most: 8 },
    ],
    [
      'a waterfall: each step on the key of the installation is paid at most once',
      [WATERFALL],
      rowsOf('a', 'b'),
      { billable: 2 },
      { expected: 2, at_most: 8 },
    ],
  ])('%s', async (_class, steps, rows, cells, credits) => {
    const { base } = await makeSheet(steps, rows, { cache_enabled: false })
    const { data } = await estimate(base)
    const none = { cached: 0, own_key: 0, free: 0, skipped: 0, billable: 0 }
    expect(data.cells).toEqual({ ...none, total: rows.length * steps.length, ...cells })
    expect(data.credits).toMatchObject(credits)
    expect([data.rows, data.precision]).toEqual([rows.length, 'exact'])
  })

  it('cached: a stored answer, or the key of another cell of the selection', async () => {
    const { base, ids } = await makeSheet([PAID], rowsOf('a', 'a', 'b'), { cache_enabled: true })
    expect((await estimate(base)).data.cells).toMatchObject({ billable: 2, cached: 1 })
    expect(await billOf(base, { row_ids: ids.slice(0, 1) })).toBe(2)
    const { data } = await estimate(base)
    expect(data.cells).toMatchObject({ billable: 1, cached: 2 })
    expect(data.credits).toMatchObject({ at_most: 2, saved_by_cache: 4 })
  })

  it('cached: the second action of a chain whose results are all stored, and cells that its condition skips', async () => {
    const second = { ...PAID, inputs: { text: '{{paid_1.value}}!' } }
    const third = { ...PAID, run_if: onlyIf('{{paid_2.value}}', 'a!') }
    const { base, ids } = await makeSheet([PAID, second, third], rowsOf('a', 'b'), { cache_enabled: true })
    expect(await billOf(base, { row_ids: ids })).toBe(10)
    const { data } = await estimate(base)
    expect(data.cells).toMatchObject({ billable: 0, cached: 5, skipped: 1 })
    expect(data.credits).toMatchObject({ expected: 0, at_most: 0, saved_by_cache: 10 })
    expect(await billOf(base, { row_ids: ids })).toBe(0)
  })

  it('`None` stands for no verifier, and is no provider of an estimate', async () => {
    const { base } = await makeSheet([WATERFALL], rowsOf('a'))
    const [action] = (await estimate(base)).data.actions
    expect(action.providers.map(({ provider }: { provider: string }) => provider)).toEqual([
      'Hunter',
      'Datagma',
      'Findymail',
    ])
  })

  it('providers are listed with price, miss price, key and their possible cost', async () => {
    const { base } = await makeSheet([WATERFALL], rowsOf('a', 'b'), { cache_enabled: false })
    const [action] = (await estimate(base)).data.actions
    expect(action).toMatchObject({ action_instance_id: 'person_work_email_waterfall_1', basis: 'list_price' })
    expect(action.providers[1]).toEqual({
      provider: 'Datagma',
      credits: 2,
      miss_credits: 0,
      own_key: false,
      configured: true,
      hit_rate: null,
      expected: 0,
      at_most: 4,
    })
  })
})

describe('M1: the chosen rows', () => {
  it.each<[string, object, number, number]>([
    ['all', { all: true }, 3, 12],
    ['first_10', { first_10: true }, 3, 12],
    ['new_rows', { new_rows: 1000 }, 1000, 4000],
    ['unfinished', { only: 'unfinished' }, 3, 12],
    ['failed', { only: 'failed' }, 0, 0],
    ['filters', { filters: [{ variable: '{{input.x}}', operator: 'is equal to', values: ['b'] }] }, 1, 4],
    ['one action', { all: true, action_instance_id: 'paid_2' }, 3, 6],
    ['it and the next', { all: true, action_instance_id: 'paid_1', run_next_action: true }, 3, 12],
  ])('%s', async (_what, body, rows, atMost) => {
    const { base } = await makeSheet([PAID, PAID], rowsOf('a', 'b', 'c'), { cache_enabled: false })
    const { data } = await estimate(base, body)
    expect([data.rows, data.credits.at_most]).toEqual([rows, atMost])
  })

  it.each<[string, object, string]>([
    ['no selector', {}, 'body'],
    ['two selectors, one of them only', { all: true, only: 'failed' }, 'body'],
    ['two selectors', { all: true, new_rows: 5 }, 'body'],
    ['no row', { new_rows: 0 }, 'new_rows'],
    ['too many rows', { new_rows: 10_000_001 }, 'new_rows'],
    ['an unknown action', { all: true, action_instance_id: 'paid_9' }, 'action_instance_id'],
    ['a row of another sheet', { row_ids: ['0198f3a3-77b0-7c11-9f0e-6a5b4c3d2e1f'] }, 'row_ids[0]'],
    ['a cap below 0', { all: true, max_credits: -1 }, 'max_credits'],
  ])('%s is a 400', async (_what, body, place) => {
    const { base } = await makeSheet([PAID], rowsOf('a'))
    const answer = await org.call('POST', `${base}/estimate`, body)
    expect([answer.status, answer.body.errors[0].field]).toEqual([400, place])
  })

  it('the unfinished and the failed rows are those that Run All would run', async () => {
    const { base, ids } = await makeSheet([PAID], rowsOf('a', 'bad', 'c'))
    await org.call('POST', `${base}/run`, { row_ids: ids.slice(0, 2) })
    await settledRows(org, base)
    for (const [only, rows] of [['unfinished', 2] as const, ['failed', 1] as const]) {
      const { data } = await estimate(base, { only })
      expect([only, data.rows, data.credits.at_most]).toEqual([only, rows, rows * 2])
    }
  })

  it('nothing is queued, called or written', async () => {
    const { base } = await makeSheet([WATERFALL], rowsOf('a'))
    const calls = { ...providers.calls }
    await estimate(base)
    expect([providers.calls, (await org.call('GET', `${base}/runs`)).body.data]).toEqual([calls, []])
  })
})

it('M1: limits say what covers the run, and warnings what may be exceeded', async () => {
  const { base } = await makeSheet([WATERFALL], rowsOf('a', 'b'), { cache_enabled: false })
  const { data, warnings } = await estimate(base, { all: true, max_credits: 3 })
  expect(data.limits).toEqual([
    { kind: 'max_credits', remaining: 3, covers: 'expected' },
    { kind: 'balance', remaining: data.balance.now - data.balance.held, covers: 'at_most' },
  ])
  expect(warnings.map(({ code }: { code: string }) => code)).toEqual(['may_exceed_max_credits'])
  expect(data.balance.after_at_most).toBe(data.balance.now - data.balance.held - 8)
})

it('M2: rows that are sent to a sheet which runs them are downstream, and included', async () => {
  const parent = await makeSheet([])
  const made = await org.call('POST', `/workflows/${parent.workflowId}/sheets`, {
    name: 'Child',
    auto_run: true,
  })
  const target = made.body.data.sheet_id
  const child = `/workflows/${parent.workflowId}/sheets/${target}`
  await org.call('POST', `${child}/inputs`, [{ name: 'x', type: 'string' }])
  await org.call('POST', `${child}/actions/add`, PAID)
  const send = { target_sheet_id: target, field_mapping: [{ name: 'x', value: '{{input.x}}' }] }
  await org.call('POST', `${parent.base}/actions/add`, { action_id: 'send_to_sheet', inputs: send })
  await org.call('POST', `${parent.base}/rows`, { rows: rowsOf('a', 'b') })
  const one = await estimate(parent.base)
  expect(one.data.downstream).toEqual([
    { sheet_id: target, via: 'send_to_sheet_1', rows: 2, expected: 4, at_most: 4 },
  ])
  expect(one.data.credits).toMatchObject({ expected: 4, at_most: 4 })
  expect(one.warnings.map(({ code }: { code: string }) => code)).toEqual(['spends_downstream'])
  await org.call('PATCH', `${parent.base}/actions/send_to_sheet_1`, {
    inputs: { ...send, target_sheet_id: '{{input.x}}' },
  })
  const open = await estimate(parent.base)
  expect(open.data.credits.at_most).toBeNull()
  expect(open.warnings.map(({ code }: { code: string }) => code)).toContain('unbounded')
})

it('M2: with 20 settled cells the expected cost follows their hit rates', async () => {
  const rows = rowsOf(...Array.from({ length: 40 }, (_, n) => (n % 4 === 0 ? `bad ${n}` : `good ${n}`)))
  const { base } = await makeSheet([PAID], rows, { cache_enabled: false })
  expect((await estimate(base)).data.actions[0].basis).toBe('list_price')
  await billOf(base, { filters: [{ variable: '{{input.x}}', operator: 'not equal to', values: ['z'] }] })
  const [action] = (await estimate(base)).data.actions
  expect([action.basis, action.credits]).toEqual(['history', { expected: 60, at_most: 80 }])
})

it('M2: a waterfall is expected to go on as often as its providers had no answer', async () => {
  const people = Object.entries(predict(200).rows)
  const hits = people.filter(([, { provider }]) => provider === 'Hunter').slice(0, 10)
  const misses = people.filter(([, { provider }]) => provider !== 'Hunter').slice(0, 10)
  const rows = [...hits, ...misses].map(([person]) => ({ x: person, name: `${person} Lee` }))
  const { base, ids } = await makeSheet([WATERFALL], rows, { cache_enabled: false })
  await billOf(base, { row_ids: ids })
  const [action] = (await estimate(base, { new_rows: 40 })).data.actions
  const [first] = action.providers
  expect([action.basis, first.provider, first.hit_rate, first.expected]).toEqual([
    'history',
    'Hunter',
    0.5,
    20,
  ])
})

it("M2: hit rates count at today's prices, also of cells that were free", async () => {
  const priceAt = (credits: number) => setPrice(app.store.system, catalogue, { action: 'paid', credits })
  onTestFinished(async () => void (await priceAt(paid.credits)))
  await priceAt(0)
  const rows = rowsOf(...Array.from({ length: 40 }, (_, n) => (n % 4 === 0 ? `bad ${n}` : `good ${n}`)))
  const { base } = await makeSheet([PAID], rows, { cache_enabled: false })
  expect(await billOf(base, { filters: [{ variable: '{{input.x}}', operator: 'is not empty' }] })).toBe(0)
  await priceAt(3)
  const [action] = (await estimate(base)).data.actions
  expect([action.basis, action.credits]).toEqual(['history', { expected: 90, at_most: 120 }])
})

it('M3: beyond 10,000 rows a sample is looked at, and the other rows count in full', async () => {
  const { base } = await makeSheet([{ ...PAID, run_if: onlyIf('{{input.x}}', 'a') }], [], {
    cache_enabled: false,
  })
  const ids: string[] = []
  for (let n = 0; n < 11; n += 1) {
    const rows = Array.from({ length: 1000 }, (_, place) => ({ x: place % 2 === 0 ? 'a' : 'b' }))
    ids.push(...(await org.call('POST', `${base}/rows`, { rows })).body.data.row_ids)
  }
  const sampled = (await estimate(base)).data
  expect([sampled.rows, sampled.precision, sampled.cells.total]).toEqual([11_000, 'sampled', 11_000])
  expect(sampled.credits.at_most).toBeGreaterThanOrEqual(11_000)
  expect(sampled.credits.at_most).toBeLessThan(22_000)
  const filters = [{ variable: '{{input.x}}', operator: 'is not empty' }]
  expect((await estimate(base, { filters })).data).toMatchObject({ rows: 11_000, precision: 'sampled' })
  const exact = (await estimate(base, { all: true, exact: true })).data
  expect([exact.precision, exact.cells.billable, exact.credits.at_most]).toEqual(['exact', 5500, 11_000])
  expect(exact.actions[0].basis).toBe('list_price')
  // A person who runs the first rows as a trial gets an estimate from their results, however many rows there are.
  await org.call('POST', `${base}/run`, { row_ids: ids.slice(0, 40) })
  await expect.poll(async () => (await org.call('GET', `${base}/runs`)).body.data[0].state).toBe('finished')
  expect((await estimate(base)).data.actions[0].basis).toBe('history')
})
