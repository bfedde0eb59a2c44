import { request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { done, failed } from '#server/catalog/outcome.ts'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { makeLargeSheet } from '#test/builders/large-sheet.ts'
import { makePaidSheet, paidAction } from '#test/builders/paid-action.ts'
import { rowsOf } from '#test/builders/rows.ts'
import type { Call } from '#test/builders/sheets.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'

const paid = paidAction((text) => (text === 'bad' ? failed('no such thing') : done({ value: text })))
const app = await makeApp({ services: { catalogue: catalogueOf(paid) } })
await startTestWorker(app)
const org = await app.makeOrg()
const { makeSheet, addRows } = rowsOf(org)

async function statistics(base: string, body: object): Promise<Json> {
  const answer = await org.call('POST', `${base}/rows/statistics`, body)
  expect([answer.status, answer.body.errors]).toEqual([200, undefined])
  return answer.body.data
}

const input = (name: string) => ({ variable: `{{input.${name}}}` })
const VALUES = [
  '10',
  '2',
  '2.0',
  '-1e1',
  'x',
  'x',
  'x',
  '',
  null,
  '2026-01-31',
  '2026-01-01T12:00:00+02:00',
  '2026-02-30',
]

describe('G6 Column statistics', () => {
  it('counts values; numbers as numbers, dates as dates', async () => {
    const base = await makeSheet(['v'])
    await addRows(
      base,
      VALUES.map((v) => ({ v })),
    )
    const found = await statistics(base, { columns: [input('v')] })
    const [column] = found.columns
    expect(found).toMatchObject({ rows: 12, looked_at: 12, precision: 'exact' })
    expect(column).toMatchObject({ filled: 10, empty: 2, unique: 8, action: null })
    expect(column.most_frequent.slice(0, 2)).toEqual([
      { value: 'x', count: 3 },
      { value: '-1e1', count: 1 },
    ])
    expect(column.most_frequent).toHaveLength(8)
    expect(column.numbers).toMatchObject({ count: 4, sum: 4, average: 1, min: -10, median: 2, max: 10 })
    const bars: Json[] = column.numbers.histogram
    expect(bars.reduce((sum, { count }) => sum + count, 0)).toBe(4)
    expect([bars[0].from, bars.at(-1).to, bars[0].count]).toEqual([-10, 10, 1])
    expect(column.dates).toMatchObject({
      count: 2,
      min: '2026-01-01T10:00:00.000Z',
      median: '2026-01-16T05:00:00.000Z',
      max: '2026-01-31T00:00:00.000Z',
    })
    expect(column.dates.histogram.map((bar: Json) => bar.count)).toEqual([1, 1])
  })

  it('agrees with a plain count, for random numbers in a selection', async () => {
    const base = await makeSheet(['n', 'kind'])
    const numbers = Array.from({ length: 700 }, (_, n) => ((n * 7919) % 1000) / 8)
    await addRows(
      base,
      numbers.map((n, at) => ({ n, kind: at % 2 === 0 ? 'even' : 'odd' })),
    )
    const filters = [{ ...input('kind'), operator: 'is equal to', values: ['even'] }]
    const { rows, columns } = await statistics(base, { columns: [input('n'), input('kind')], filters })
    const wanted = numbers.filter((_, at) => at % 2 === 0).toSorted((a, b) => a - b)
    const sum = wanted.reduce((all, n) => all + n, 0)
    expect(rows).toBe(350)
    expect(columns[0].numbers).toMatchObject({
      count: 350,
      sum,
      min: wanted[0],
      max: wanted.at(-1),
      median: ((wanted[174] ?? 0) + (wanted[175] ?? 0)) / 2,
    })
    expect(columns[0].numbers.average).toBeCloseTo(sum / 350, 9)
    const { histogram } = columns[0].numbers
    expect(histogram).toHaveLength(20)
    for (const [n, { from, to, count }] of histogram.entries()) {
      const inside = wanted.filter((one) => one >= from && (n === 19 ? one <= to : one < to))
      expect(count).toBe(inside.length)
    }
    expect(columns[1]).toMatchObject({ filled: 350, unique: 1, numbers: null, dates: null })
  })

  it('survives numbers that no double holds, and an empty sheet', async () => {
    const base = await makeSheet(['n'])
    expect(await statistics(base, { columns: [input('n')] })).toEqual({
      rows: 0,
      looked_at: 0,
      precision: 'exact',
      columns: [
        { filled: 0, empty: 0, unique: 0, most_frequent: [], numbers: null, dates: null, action: null },
      ],
    })
    await addRows(base, [{ n: '1e999' }, { n: '-1e999' }, { n: '1e-999' }, { n: '5' }])
    const [column] = (await statistics(base, { columns: [input('n')] })).columns
    expect(column.numbers).toMatchObject({ count: 4, min: -1e300, max: 1e300 })
  })

  it('statuses of an action, cells not run, credits and providers', async () => {
    const base = await makePaidSheet(org)
    const ids = await addRows(base, [{ x: 'a' }, { x: 'b' }, { x: 'bad' }])
    await org.call('POST', `${base}/run-all`)
    await settledRows(org, base)
    await addRows(base, [{ x: 'later' }])
    const provenance = [
      { provider: 'hunter', status: 'miss', credits: 0 },
      { provider: 'datagma', status: 'hit', credits: 1 },
      { provider: 'findymail', status: 'unconfigured', credits: 0 },
    ]
    await app.store.system
      .updateTable('cells')
      .set({ provenance: JSON.stringify(provenance) })
      .where('row_id', 'in', ids.slice(0, 2))
      .execute()
    const columns = [
      { action_instance_id: 'paid_1' },
      { variable: '{{paid_1.value}}' },
      { field: 'created_at' },
    ]
    const [status, output, created] = (await statistics(base, { columns })).columns
    expect(status).toMatchObject({ filled: 3, empty: 1, unique: 2 })
    expect(status.action).toEqual({
      statuses: { complete: 2, failed: 1 },
      not_run: 1,
      credits: 4,
      providers: [
        { provider: 'datagma', asked: 2, hits: 2, hit_rate: 1 },
        { provider: 'hunter', asked: 2, hits: 0, hit_rate: 0 },
      ],
    })
    expect(output).toMatchObject({ filled: 2, empty: 2, unique: 2, action: null })
    expect(created.dates.count).toBe(4)
  })

  it('is exact to 100,000 rows, and samples more, with or without a selection', async () => {
    const call: Call = async (method, path, body) => (await org.call(method, path, body)).body
    const exact = await makeLargeSheet(app.store, call, org.orgId, 100_000)
    const columns = [input('employees'), input('industry'), { action_instance_id: 'split_full_name_1' }]
    const whole = await statistics(exact.base, { columns: columns.slice(0, 2) })
    expect(whole).toMatchObject({ rows: 100_000, looked_at: 100_000, precision: 'exact' })
    expect(whole.columns[0].numbers).toMatchObject({ count: 100_000, min: 0, max: 9999 })
    const large = await makeLargeSheet(app.store, call, org.orgId, 220_000)
    for (const body of [
      {},
      { filters: [{ ...input('industry'), operator: 'not equal to', values: ['x'] }] },
    ]) {
      const found = await statistics(large.base, { columns: columns.slice(0, 2), ...body })
      expect(found).toMatchObject({ rows: 220_000, precision: 'sampled' })
      expect(found.looked_at).toBeGreaterThan(8000)
      expect(found.looked_at).toBeLessThan(12_000)
      expect(found.columns[1].most_frequent).toHaveLength(4)
      expect(found.columns[0].numbers.average).toBeGreaterThan(4500)
      expect(found.columns[0].numbers.average).toBeLessThan(5500)
    }
    const some = { filters: [{ ...input('industry'), operator: 'is equal to', values: ['energy'] }] }
    expect(await statistics(large.base, { columns: columns.slice(0, 1), ...some })).toMatchObject({
      rows: 55_000,
      looked_at: 55_000,
      precision: 'exact',
    })
  })

  it('of one organisation do not delay the requests of another', async () => {
    const call: Call = async (method, path, body) => (await org.call(method, path, body)).body
    const { base } = await makeLargeSheet(app.store, call, org.orgId, 50_000)
    const other = await app.makeOrg()
    const own = rowsOf(other)
    const sheet = await own.makeSheet()
    await own.addRows(sheet, [{}])
    let left = 8
    const columns = Array.from({ length: 10 }, () => input('note'))
    const asked = Array.from({ length: left }, async () => {
      await statistics(base, { columns })
      left -= 1
    })
    const times: number[] = []
    for (let n = 0; n < 20; n += 1) {
      const began = performance.now()
      expect((await own.list(sheet)).rows).toHaveLength(1)
      times.push(performance.now() - began)
    }
    expect(left).toBeGreaterThan(4)
    expect(times.toSorted((a, b) => a - b)[10]).toBeLessThan(500)
    await Promise.all(asked)
  })

  it('ends in the database when the reader leaves', async () => {
    const call: Call = async (method, path, body) => (await org.call(method, path, body)).body
    const { base } = await makeLargeSheet(app.store, call, org.orgId, 60_000)
    await app.api.listen({ port: 0, host: '127.0.0.1' })
    const { port } = app.api.server.address() as { port: number }
    const running = async () => {
      const rows = await app.store.query<{ pid: number }>({
        text: `select pid from pg_stat_activity where state = 'active' and query like '%grouped as materialized%' and pid <> pg_backend_pid()`,
      })
      return rows.length
    }
    const columns = Array.from({ length: 50 }, () => input('note'))
    const sent = request({
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: `/api/v1${base}/rows/statistics`,
      headers: { authorization: `Bearer ${org.key}`, 'content-type': 'application/json' },
    })
    sent.on('error', () => undefined)
    sent.end(JSON.stringify({ columns }))
    await expect.poll(running, { timeout: 20_000, interval: 20 }).toBe(1)
    sent.destroy()
    const began = performance.now()
    await expect.poll(running, { timeout: 20_000, interval: 20 }).toBe(0)
    expect(performance.now() - began).toBeLessThan(2000)
  })

  it.each<[string, object, string[]]>([
    ['no columns', {}, ['columns']],
    ['51 columns', { columns: Array.from({ length: 51 }, () => input('v')) }, ['columns']],
    [
      'what is not on the sheet',
      { columns: [input('v'), input('w'), { action_instance_id: 'a_1' }], find: '' },
      ['columns[1].variable', 'columns[2].action_instance_id', 'find'],
    ],
  ])('400: %s', async (_name, body, fields) => {
    const base = await makeSheet(['v'])
    const answer = await org.call('POST', `${base}/rows/statistics`, body)
    expect(answer.status).toBe(400)
    expect(answer.body.errors.map((error: { field: string }) => error.field).toSorted()).toEqual(fields)
  })
})
