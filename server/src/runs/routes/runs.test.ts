import { describe, expect, it } from 'vitest'
import { serveHttp } from '#test/doubles/loopback-server.ts'
import { makeApp, type Json } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { formula, type Step } from '../../api/testing/shortcut.ts'
import { complete, F1, F2, runSheetsOf } from '../testing/run-sheets.ts'

const app = await makeApp()
await startTestWorker(app)
const org = await app.makeOrg()
const { makeSheet, addRows } = runSheetsOf(org)

describe('4.6 runs', () => {
  it('Run All runs the chain on every row, outputs feed later actions, and the row is complete', async () => {
    const base = await makeSheet([
      formula('{{input.name}}.toUpperCase()'),
      formula(`{{${F1}.formatted_data}} + "!"`),
    ])
    await addRows(base, [{ name: 'ada' }, { name: 'grace' }])
    const answer = await org.call('POST', `${base}/run-all`)
    expect([answer.status, answer.body.data]).toEqual([200, { rows_queued: 2 }])
    expect(answer.body.message).toContain('2')
    const rows = await settledRows(org, base)
    expect(rows.map((row) => [row.row_status, row.cells])).toEqual([
      ['complete', { [F1]: complete('ADA'), [F2]: complete('ADA!') }],
      ['complete', { [F1]: complete('GRACE'), [F2]: complete('GRACE!') }],
    ])
  })

  it('run_after_add and auto_run: rows_queued_for_run counts what was queued, no row twice (D16)', async () => {
    const base = await makeSheet([formula('1 + 1')])
    const rows = Array.from({ length: 15 }, () => ({}))
    expect((await addRows(base, rows)).rows_queued_for_run).toBe(0)
    expect((await addRows(base, rows, { run_after_add: 'first_10' })).rows_queued_for_run).toBe(10)
    expect((await addRows(base, rows, { run_after_add: 'all' })).rows_queued_for_run).toBe(15)
    await org.call('PATCH', base, { auto_run: true })
    expect((await addRows(base, rows, { run_after_add: 'first_10' })).rows_queued_for_run).toBe(15)
    expect((await addRows(base, rows)).rows_queued_for_run).toBe(15)
    const settled = await settledRows(org, base)
    expect(settled.filter((row) => row.row_status === 'complete')).toHaveLength(10 + 15 + 15 + 15)
  })

  it('a failed action halts the row unless it may continue; either way the row has_failures', async () => {
    const chain = [formula('nonsense.of.names'), formula('"after"')]
    const halting = await makeSheet(chain)
    const going = await makeSheet([
      { ...chain[0], continue_workflow_if_action_fails: true } as Step,
      chain[1] as Step,
    ])
    for (const base of [halting, going]) {
      await addRows(base, [{}], { run_after_add: 'all' })
    }
    const [stopped] = await settledRows(org, halting)
    expect(stopped?.row_status).toBe('has_failures')
    expect(stopped?.cells).toEqual({ [F1]: { status: 'failed', error: expect.any(String) } })
    const [went] = await settledRows(org, going)
    expect(went?.row_status).toBe('has_failures')
    expect(went?.cells[F2]).toEqual(complete('after'))
  })

  it('D17: cells appear one after the other, and a row never reads as finished in between; a re-run clears what it runs again, and only that', async () => {
    const held: (() => void)[] = []
    const { origin } = await serveHttp((_request, response) => {
      held.push(() => response.setHeader('content-type', 'application/json').end('{}'))
    })
    const call = { action_id: 'http_api_call', inputs: { endpoint: origin, method: 'GET' } }
    const [CALL, NEXT_CALL] = ['http_api_call_1', 'http_api_call_2']
    const base = await makeSheet([call, call, formula('"end"')])
    await addRows(base, [{}], { run_after_add: 'all' })
    const statuses = async () => {
      const [row] = (await org.call('POST', `${base}/rows/list`)).body.data.rows
      const cells: [string, { status: string }][] = Object.entries(row.cells)
      return [row.row_status, cells.map(([action, { status }]) => `${action} ${status}`)]
    }
    await expect.poll(() => held.length).toBe(1)
    expect(await statuses()).toEqual(['running', [`${CALL} running`]])
    const seen = new Set<string>()
    const watching = (async () => {
      for (let [row, cells] = await statuses(); ; [row, cells] = await statuses()) {
        seen.add(`${row}: ${cells.length} cells`)
        if (row !== 'running') return
      }
    })()
    held[0]?.()
    await expect.poll(() => held.length).toBe(2)
    expect(await statuses()).toEqual(['running', [`${CALL} complete`, `${NEXT_CALL} running`]])
    held[1]?.()
    await watching
    expect([...seen].filter((state) => !state.startsWith('running'))).toEqual(['complete: 3 cells'])

    await org.call('POST', `${base}/actions/${NEXT_CALL}/run`, {})
    await expect.poll(() => held.length).toBe(3)
    expect(await statuses()).toEqual([
      'running',
      [`${CALL} complete`, `${NEXT_CALL} running`, `${F1} complete`],
    ])
    held[2]?.()
    await settledRows(org, base)
  })

  it('D19: has_failures stays until that cell is run again', async () => {
    const base = await makeSheet([formula('nonsense.of.names'), formula('"other"')])
    await addRows(base, [{}], { run_after_add: 'all' })
    const status = async () => (await settledRows(org, base))[0]?.row_status
    expect(await status()).toBe('has_failures')
    await org.call('POST', `${base}/actions/${F2}/run`, {})
    expect(await status()).toBe('has_failures')
    await org.call('PATCH', `${base}/actions/${F1}`, { inputs: { data_formatter: '"mended"' } })
    expect(await status()).toBe('has_failures')
    await org.call('POST', `${base}/actions/${F1}/run`, {})
    expect(await status()).toBe('complete')
  })

  it('run_if not met: the cell is condition_not_met, the row ends there unless told to continue', async () => {
    const run_if = (more: object) => ({
      run_if: {
        conditions: [{ conditions: [{ variable: '{{input.name}}', operator: 'is', values: ['yes'] }] }],
        ...more,
      },
    })
    const ends = await makeSheet([formula('"x"', run_if({})), formula('"y"')])
    const goes = await makeSheet([
      formula('"x"', run_if({ continue_workflow_if_run_condition_not_met: true })),
      formula(`"[" + {{${F1}.formatted_data}} + "]"`),
    ])
    for (const base of [ends, goes])
      await addRows(base, [{ name: 'no' }, { name: 'yes' }], { run_after_add: 'all' })
    const [no, yes] = await settledRows(org, ends)
    expect([no?.row_status, no?.cells]).toEqual(['complete', { [F1]: { status: 'condition_not_met' } }])
    expect(Object.keys(yes?.cells ?? {})).toEqual([F1, F2])
    const [skipped] = await settledRows(org, goes)
    expect(skipped?.cells[F2]).toEqual(complete('[]'))
  })

  it('a filter that does not match: its cell is condition_not_met and the row ends (D18)', async () => {
    const conditions = [
      { conditions: [{ variable: '{{input.n}}', operator: 'greater than', values: ['5'] }] },
    ]
    const base = await makeSheet([
      { action_id: 'filter', inputs: { path_conditions: conditions } },
      formula('"big"'),
    ])
    await addRows(base, [{ n: 3 }, { n: 7 }], { run_after_add: 'all' })
    const [small, big] = await settledRows(org, base)
    expect([small?.row_status, small?.cells]).toEqual([
      'complete',
      { filter_1: { status: 'condition_not_met' } },
    ])
    expect(big?.cells[F1]).toEqual(complete('big'))
  })

  it('a token that does not exist is an error; a required input that is empty is an error (D18, D33)', async () => {
    const base = await makeSheet([formula('{{input.gone}} + 1')])
    await addRows(base, [{}], { run_after_add: 'all' })
    const [row] = await settledRows(org, base)
    expect(row?.cells[F1]).toEqual({ status: 'error', error: expect.stringContaining('{{input.gone}}') })
    const empty = await makeSheet([{ action_id: 'normalize_domain', inputs: { value: '{{input.name}}' } }])
    await addRows(empty, [{}], { run_after_add: 'all' })
    const [blank] = await settledRows(org, empty)
    expect(Object.values(blank?.cells ?? {})).toEqual([
      { status: 'error', error: expect.stringContaining('empty') },
    ])
  })

  const unknown = '00000000-0000-7000-8000-000000000000'
  it.each<[string, unknown]>([
    ['no selector', {}],
    ['two selectors', { first_10: true, row_ids: [unknown] }],
    ['an empty filter array', { filters: [] }],
    ['an empty status filter array', { status_filters: [] }],
    ['row_ids: []', { row_ids: [] }],
    ['first_10: false', { first_10: false }],
    ['a malformed row id', { row_ids: ['x'] }],
    ['an unknown row (D21)', { row_ids: [unknown] }],
  ])('Run Rows 400: %s', async (_name, body) => {
    const base = await makeSheet([formula('1')])
    await addRows(base, [{}])
    expect((await org.call('POST', `${base}/run`, body)).status).toBe(400)
    expect((await settledRows(org, base))[0]?.row_status).toBe('pending')
  })

  it('Run Rows selectors: row_ids, first_10, filters, created_at; nothing matching is 0', async () => {
    const base = await makeSheet([formula('{{input.n}}')])
    const { row_ids } = await addRows(
      base,
      Array.from({ length: 12 }, (_, n) => ({ n })),
    )
    const run = async (body: object) => (await org.call('POST', `${base}/run`, body)).body.data
    const bigger = { variable: '{{input.n}}', operator: 'greater than', values: ['9'] }
    expect(await run({ row_ids: [row_ids[3], row_ids[3]] })).toEqual({ rows_queued: 1 })
    expect(await run({ filters: [bigger] })).toEqual({ rows_queued: 2 })
    expect(await run({ filters: [{ ...bigger, values: ['100'] }] })).toEqual({ rows_queued: 0 })
    const done = (await settledRows(org, base)).map((row) => row.row_status === 'complete')
    expect(done.flatMap((is, n) => (is ? [n] : []))).toEqual([3, 10, 11])
    expect(await run({ first_10: true })).toEqual({ rows_queued: 10 })
    const both = { filters: [bigger], created_at: { operator: 'greater than', values: ['2020-01-01'] } }
    expect(await run(both)).toEqual({ rows_queued: 2 })
    await settledRows(org, base)
    const failed = { status_filters: [{ action_instance_id: F1, is: ['failed'] }] }
    expect(await run(failed)).toEqual({ rows_queued: 0 })
  })

  it('no action configured is 400', async () => {
    const base = await makeSheet([])
    await addRows(base, [{}])
    for (const path of ['run-all', 'run']) {
      expect((await org.call('POST', `${base}/${path}`, { first_10: true })).status).toBe(400)
    }
  })

  it('Run Action runs that action only; with run_next_action the later ones too', async () => {
    const base = await makeSheet([formula('"a" + {{input.n}}'), formula(`{{${F1}.formatted_data}} + "b"`)])
    await addRows(base, [{ n: 1 }])
    const run = (action: string, body: object) => org.call('POST', `${base}/actions/${action}/run`, body)
    expect((await run(F1, {})).body.data).toEqual({ rows_queued: 1 })
    expect(Object.keys((await settledRows(org, base))[0]?.cells ?? {})).toEqual([F1])
    await run(F1, { run_next_action: true, row_ids: [] })
    expect((await settledRows(org, base))[0]?.cells[F2]).toEqual(complete('a1b'))
    expect((await run('input', {})).status).toBe(404)
    expect((await run('graph', {})).status).toBe(404)
    const empty = await makeSheet([formula('1')])
    expect((await org.call('POST', `${empty}/actions/${F1}/run`)).body.data).toEqual({ rows_queued: 0 })
    expect((await run(F1, { row_ids: Array.from({ length: 1001 }, () => unknown) })).status).toBe(400)
  })

  it('credits: charged once per completed cell, cache hits and failures are free, the ledger adds up', async () => {
    const paid = await app.makeOrg()
    const sheets = runSheetsOf(paid)
    const base = await sheets.makeSheet([formula('1')])
    await sheets.addRows(base, [{}], { run_after_add: 'all' })
    await settledRows(paid, base)
    const [ledger] = await app.store.query<{ total: number; balance: number; held: number }>({
      text: `select (select sum(amount_millis) from ledger_entries where org_id = $1)::bigint as total,
        credits_millis as balance, held_millis as held from organisations where org_id = $1`,
      values: [paid.orgId],
    })
    expect(ledger).toEqual({ total: 1_000_000, balance: 1_000_000, held: 0 })
  })

  it('D26, D27: with the cache on identical rows are computed once, and a change of configuration computes again', async () => {
    const base = await makeSheet([formula('{{input.name}} + Math.random()')])
    await org.call('PATCH', base, { cache_enabled: true })
    await addRows(
      base,
      Array.from({ length: 8 }, () => ({ name: 'same' })),
      { run_after_add: 'all' },
    )
    const values = async () =>
      new Set((await settledRows(org, base)).map((row) => (row.cells[F1] as Json).outputs.formatted_data))
    const first = await values()
    expect(first.size).toBe(1)
    await org.call('POST', `${base}/run-all`)
    expect(await values()).toEqual(first)
    await org.call('PATCH', `${base}/actions/${F1}`, {
      inputs: { data_formatter: '{{input.name}} + "2" + Math.random()' },
    })
    await org.call('POST', `${base}/run-all`)
    const second = await values()
    expect([second.size, second.has([...first][0])]).toEqual([1, false])
  })

  it('delay_step parks the row and it goes on later; stop removes queued cells (D23)', async () => {
    const base = await makeSheet([{ action_id: 'delay_step', inputs: { time: '1' } }, formula('"later"')])
    await addRows(base, [{}], { run_after_add: 'all' })
    const [row] = await settledRows(org, base)
    expect(row?.cells[F1]).toEqual(complete('later'))
    const long = await makeSheet([{ action_id: 'delay_step', inputs: { time: '3600' } }, formula('"never"')])
    await addRows(long, [{}, {}], { run_after_add: 'all' })
    await new Promise((resolve) => setTimeout(resolve, 800))
    const { status, body } = await org.call('POST', `${long}/stop`)
    expect([status, body.data]).toEqual([200, { rows_stopped: 2 }])
    const pending = { row_status: 'pending', cells: {}, stopped: true }
    expect(await settledRows(org, long)).toMatchObject([pending, pending])
  })

  it('last_run_at counts runs started through the API (D45)', async () => {
    const base = await makeSheet([formula('1')])
    const at = async () => (await org.call('GET', `/workflows/${base.slice(-36)}`)).body.data.last_run_at
    await org.call('PATCH', base, { auto_run: true })
    await addRows(base, [{}])
    expect(await at()).toBeNull()
    const before = Date.now()
    await org.call('POST', `${base}/run-all`)
    expect(Date.parse(await at())).toBeGreaterThanOrEqual(before)
    await settledRows(org, base)
  })

  it('D67: a cell answers with its provenance; runs are listed with their counts', async () => {
    const base = await makeSheet([formula('1')])
    const { row_ids } = await addRows(base, [{}], { run_after_add: 'all' })
    await settledRows(org, base)
    const cell = await org.call('GET', `${base}/rows/${row_ids[0]}/cells/${F1}`)
    expect(cell.body.data).toEqual({
      row_id: row_ids[0],
      action_instance_id: F1,
      ...complete('1'),
      provenance: {
        run_id: expect.any(String),
        revision: expect.any(Number),
        attempts: 1,
        duration_ms: expect.any(Number),
        credits: 0,
        cache_hit: false,
        started_at: expect.any(String),
        completed_at: expect.any(String),
        providers: [],
      },
      billing: expect.objectContaining({ credits: 0, entry_id: null, stopped_by: null }),
    })
    expect((await org.call('GET', `${base}/rows/${row_ids[0]}/cells/nope_1`)).status).toBe(404)
    const runs = (await org.call('GET', `${base}/runs`)).body.data
    expect(runs).toMatchObject([
      { trigger: 'api', rows_queued: 1, rows_done: 1, cells_done: 1, cells_failed: 0 },
    ])
  })
})
