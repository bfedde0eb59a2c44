import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { recordFinishedRuns } from '#server/shortcuts/run-status.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { startTestWorker } from '#test/plumbing/worker.ts'
import { formula, shortcutsOf } from '../../api/testing/shortcut.ts'

const app = await makeApp()
await startTestWorker(app)
const org = await app.makeOrg()
const { makeShortcut, run } = shortcutsOf(app, org)

const UUID = expect.stringMatching(/^[0-9a-f-]{36}$/)
const GREETING = formula('"Hello " + {{input.Full Name}}')

describe('4.8 batches', async () => {
  const { path, sheet } = await makeShortcut([GREETING])

  it('1,000 rows are queued in one call, each with its own run and exact result', async () => {
    const rows = Array.from({ length: 1000 }, (_, n) => ({ full_name: `P${n}` }))
    const { status, body } = await org.call('POST', `${path}/run/batch`, { rows })
    expect([status, body]).toEqual([
      201,
      { status: 201, message: expect.any(String), data: { batch_id: UUID, run_count: 1000 } },
    ])
    const { batch_id } = body.data
    const page = async (offset: number): Promise<Json> =>
      (await org.call('GET', `${path}/runs?batch_id=${batch_id}&limit=100&offset=${offset}`)).body.data
    const seen: Json[] = []
    for (let offset = 0; ; offset += 100) {
      const { runs, pagination } = await page(offset)
      expect(pagination).toEqual({ limit: 100, offset, total: runs.length })
      seen.push(...runs)
      if (runs.length < 100) break
    }
    expect(seen.map((one) => one.input_data)).toEqual(rows.map((row) => ({ ...row, n: '' })).toReversed())
    expect(new Set(seen.map((one) => one.batch_id))).toEqual(new Set([batch_id]))
    expect(new Set(seen.map((one) => one.data_id)).size).toBe(1000)
    await expect
      .poll(async () => (await page(0)).runs.every((one: Json) => one.status === 'completed'))
      .toBe(true)
    await recordFinishedRuns(app.store.system)
    const { rows: tally } = await sql<{ status: string; n: number }>`
      select status, count(*) as n from shortcut_runs where batch_id = ${batch_id} and org_id = ${org.orgId}
        and output_data->'formatted_data'->>'value' = 'Hello ' || (input_data->>'full_name')
      group by status`.execute(app.store.system)
    expect(tally).toEqual([{ status: 'completed', n: 1000 }])
    expect((await org.call('POST', `${sheet}/rows/list`, {})).body.data.total_count).toBe(1000)
  })

  it.each([
    ['no rows', { rows: [] }, ['rows']],
    ['no array', { rows: {} }, ['rows']],
    ['nothing', {}, ['rows']],
    ['more than 1,000 rows', { rows: Array.from({ length: 1001 }, () => ({})) }, ['rows']],
    [
      'bad rows among good ones',
      { rows: [{ n: 1 }, { m: 1, o: 2 }, 'x', {}, null] },
      ['rows[1].m', 'rows[1].o', 'rows[2]', 'rows[4]'],
    ],
  ])('%s is 400, names the row, and nothing is queued', async (_what, body, fields) => {
    const count = async () => (await org.call('GET', `${path}/runs`)).body.data.pagination.total
    const before = await count()
    const answer = await org.call('POST', `${path}/run/batch`, body)
    expect([answer.status, answer.body.errors.map((error: Json) => error.field)]).toEqual([400, fields])
    expect(await count()).toBe(before)
  })
})

describe('4.8 the list of runs', async () => {
  const { path } = await makeShortcut([GREETING])
  const single = [await run(path, { n: 1 }), await run(path, { n: 2 })]
  const { batch_id } = (await org.call('POST', `${path}/run/batch`, { rows: [{ n: 3 }, { n: 4 }] })).body.data
  const list = async (query: string) => (await org.call('GET', `${path}/runs${query}`)).body.data
  const numbers = async (query: string) => (await list(query)).runs.map((one: Json) => one.input_data.n)

  it('is newest first, in pages; total counts all runs, or the page if a filter is set', async () => {
    expect((await list('')).pagination).toEqual({ limit: 50, offset: 0, total: 4 })
    expect(await numbers('')).toEqual([4, 3, 2, 1])
    expect(await numbers('?limit=2&offset=1')).toEqual([3, 2])
    expect((await list('?limit=2&offset=1')).pagination).toEqual({ limit: 2, offset: 1, total: 4 })
    expect(await numbers('?offset=9')).toEqual([])
    expect((await list('?offset=9')).pagination.total).toBe(4)
    expect(await numbers('?mode=single')).toEqual([2, 1])
    expect(await numbers(`?mode=batch&batch_id=${batch_id.toUpperCase()}`)).toEqual([4, 3])
    expect((await list('?mode=batch&limit=1')).pagination).toEqual({ limit: 1, offset: 0, total: 1 })
    expect((await list(`?batch_id=${single[0].id}`)).pagination.total).toBe(0)
    expect(await numbers(`?batch_id=${batch_id}&mode=single`)).toEqual([])
  })

  it.each([
    ['limit=0', ['limit']],
    ['limit=101&offset=-1&batch_id=x&mode=both', ['limit', 'offset', 'batch_id', 'mode']],
    ['limit=1e1', ['limit']],
    ['limit=', ['limit']],
  ])('refuses %s, every failure at once', async (query, fields) => {
    const { status, body } = await org.call('GET', `${path}/runs?${query}`)
    expect([status, body.errors.map((error: Json) => error.field)]).toEqual([400, fields])
  })
})
