import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { startDueRuns } from '#server/runs/scheduler.ts'
import { setSchedule } from '#server/runs/schedules.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'

const app = await makeApp()
const org = await app.makeOrg()
await startTestWorker(app)

const FORMULA = 'format_data_using_js_expression'

/**
 * Makes a sheet. Rows `bad` fail in the first action, rows `ended` end at the filter after it, `late` was never run.
 */
async function makeSheet(): Promise<{ base: string; sheetId: string; ids: Record<string, string> }> {
  const { workflow_id: sheetId } = (await org.call('POST', '/workflows', { name: 'Selectors' })).body.data
  const base = `/workflows/${sheetId}/sheets/${sheetId}`
  await org.call('POST', `${base}/inputs`, [{ name: 'x', type: 'string' }])
  const add = async (action_id: string, inputs: object) =>
    expect((await org.call('POST', `${base}/actions/add`, { action_id, inputs })).status).toBe(201)
  await add(FORMULA, { data_formatter: '{{input.x}} === "bad" ? missing : {{input.x}}' })
  const leaf = { variable: '{{input.x}}', operator: 'not equal to', values: ['ended'] }
  await add('filter', { path_conditions: [{ conditions: [leaf] }] })
  const names = ['good', 'bad', 'ended', 'late']
  const rows = names.map((x) => ({ x }))
  const added: string[] = (await org.call('POST', `${base}/rows`, { rows })).body.data.row_ids
  const ids = Object.fromEntries(names.map((name, n) => [name, added[n] ?? '']))
  await org.call('POST', `${base}/run`, { row_ids: added.slice(0, 3) })
  expect((await settledRows(org, base)).map(({ row_status }) => row_status)).toEqual([
    'complete',
    'has_failures',
    'complete',
    'pending',
  ])
  return { base, sheetId, ids }
}

const found = async (base: string, filter: object): Promise<Json> => {
  const { status, body } = await org.call('POST', `${base}/rows/list`, { status_filters: [filter] })
  return status === 200 ? body.data.rows.map((row: Json) => row.inputs.x) : body.errors
}

describe('D78: status_filters with any action', () => {
  it('is and is_not', async () => {
    const { base } = await makeSheet()
    const any = (more: object) => found(base, { action: 'any', ...more })
    expect(await any({ is: ['failed', 'error'] })).toEqual(['bad'])
    expect(await any({ is: ['complete'] })).toEqual(['good', 'ended'])
    expect(await any({ is: ['complete', 'failed'] })).toEqual(['good', 'bad', 'ended'])
    expect(await any({ is: ['condition_not_met'] })).toEqual(['ended'])
    expect(await any({ is: ['queued', 'running'] })).toEqual([])
    expect(await any({ is_not: ['failed', 'error'] })).toEqual(['good', 'ended', 'late'])
    expect(await any({ is_not: ['complete', 'queued'] })).toEqual(['bad', 'late'])
    expect(await found(base, { action_instance_id: `${FORMULA}_1`, is: ['failed'] })).toEqual(['bad'])
    expect(await found(base, { action_instance_id: 'filter_1', is: ['failed'] })).toEqual([])
  })

  it.each<[object, string]>([
    [{ is: ['failed'] }, 'status_filters[0].action_instance_id'],
    [{ action: 'some', is: ['failed'] }, 'status_filters[0].action'],
    [{ action: 'any', action_instance_id: 'filter_1', is: ['failed'] }, 'status_filters[0].action'],
    [{ action: 'any' }, 'status_filters[0]'],
  ])('400 for %j', async (filter, field) => {
    const { base } = await makeSheet()
    expect((await found(base, filter)).map((error: Json) => error.field)).toEqual([field])
  })

  it('the rows of a run, and failed cells among many by an index', async () => {
    const { base, ids } = await makeSheet()
    const status_filters = [{ action: 'any', is: ['failed'] }]
    const answer = await org.call('POST', `${base}/run`, { status_filters })
    expect(answer.body.data).toEqual({ rows_queued: 1 })
    const runs = (await org.call('GET', `${base}/runs`)).body.data
    expect(answer.headers['x-run-id']).toBe(runs[0].run_id)
    expect(ids['bad']).toBeDefined()
  })
})

describe('D78: run-all takes only', () => {
  it.each<[unknown, number]>([
    [undefined, 4],
    [{}, 4],
    [{ only: 'failed' }, 1],
    [{ only: 'unfinished' }, 2],
  ])('%j runs %i rows', async (body, count) => {
    const { base } = await makeSheet()
    const { status, headers, body: answer } = await org.call('POST', `${base}/run-all`, body)
    expect([status, answer.data]).toEqual([200, { rows_queued: count }])
    expect(headers['x-run-id']).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('unfinished finds rows in complete blocks, after gaps and after Delete All, and no row twice', async () => {
    const { base } = await makeSheet()
    await org.call('POST', `${base}/rows/delete-all`)
    const rows = Array.from({ length: 700 }, () => ({ x: 'good' }))
    const { row_ids } = (await org.call('POST', `${base}/rows`, { rows, run_after_add: 'all' })).body.data
    const under_way = { status_filters: [{ action: 'any', is: ['queued', 'running'] }] }
    await expect
      .poll(async () => (await org.call('POST', `${base}/rows/list`, under_way)).body.data.total_count)
      .toBe(0)
    await org.call('POST', `${base}/rows/delete`, { row_ids: row_ids.slice(100, 120) })
    await org.call('POST', `${base}/rows`, { rows: [{ x: 'never run' }] })
    const [failed, lacking, ended] = [row_ids[5], row_ids[300], row_ids[690]]
    const { store } = app
    const set = `update cells set status = $1 where row_id = $2 and action = 'filter_1'`
    await store.query({ text: set, values: ['failed', failed] })
    await store.query({ text: set, values: ['condition_not_met', ended] })
    const rest = `delete from cells where row_id = any($1::uuid[]) and action <> 'filter_1'`
    await store.query({ text: rest, values: [[lacking, failed, ended]] })
    const { body } = await org.call('POST', `${base}/run-all`, { only: 'unfinished' })
    expect(body.data).toEqual({ rows_queued: 3 })
  })

  it('an action that was added since makes every row unfinished that no condition ended', async () => {
    const { base } = await makeSheet()
    await org.call('POST', `${base}/actions/add`, {
      action_id: 'normalize_domain',
      inputs: { value: 'a.com' },
    })
    const { body } = await org.call('POST', `${base}/run-all`, { only: 'unfinished' })
    expect(body.data).toEqual({ rows_queued: 3 })
  })

  it('400 for another word', async () => {
    const { base } = await makeSheet()
    const { status, body } = await org.call('POST', `${base}/run-all`, { only: 'bad' })
    expect([status, body.errors]).toEqual([
      400,
      [{ field: 'only', message: 'must be one of: unfinished, failed' }],
    ])
  })

  it('and so does a schedule', async () => {
    const { base, sheetId } = await makeSheet()
    const key = { org_id: org.orgId, sheet_id: sheetId }
    await setSchedule(app.store.system, OPERATOR, key, { cron: '@yearly', only: 'failed' })
    await sql`update schedules set next_run_at = now() where sheet_id = ${sheetId}`.execute(app.store.system)
    await startDueRuns(app.services)
    const [latest] = (await org.call('GET', `${base}/runs`)).body.data
    expect(latest).toMatchObject({ trigger: 'schedule', rows_queued: 1 })
  })
})

describe('D86: a misspelt selector never means all rows', () => {
  const good = [{ variable: '{{input.x}}', operator: 'is equal to', values: ['good'] }]

  it.each([
    ['run', { first_10: true }],
    ['run-all', {}],
    [`actions/${FORMULA}_1/run`, {}],
    ['estimate', { all: true }],
    ['export', {}],
    ['rows/delete', { row_ids: ['x'] }],
    ['rows/delete-all', {}],
  ])('%s refuses unknown fields and names them, wherever they stand', async (path, body) => {
    const { base } = await makeSheet()
    const call = async (more: object) => {
      const answer = await org.call('POST', `${base}/${path}`, { ...body, ...more })
      return [answer.status, (answer.body.errors ?? []).map(({ field }: Json) => field).toSorted()]
    }
    expect(await call({ filter: good, rowIds: [1] })).toEqual([400, ['filter', 'rowIds']])
    expect(await call({ rowids: ['a'], max_credit: 3 })).toEqual([400, ['max_credit', 'rowids']])
    if (path !== 'rows/delete') {
      const inner = [{ ...good[0], value: 'x' }]
      expect((await call({ filters: inner }))[1]).toContain('filters[0].value')
    }
    expect((await org.call('GET', `${base}/runs`)).body.data).toHaveLength(1)
    expect((await org.call('POST', `${base}/rows/list`)).body.data.total_count).toBe(4)
  })

  it('suggests the field that a misspelt one may have meant', async () => {
    const { base } = await makeSheet()
    const { body } = await org.call('POST', `${base}/rows/delete-all`, { filter: good })
    expect(body.errors[0].message).toBe(
      'is not known here, and the request is refused because this field may be meant to select rows; did you mean filters?',
    )
  })

  it.each<[string, (ids: Record<string, string>) => object, string[]]>([
    ['filters', () => ({ filters: good }), ['good']],
    ['row_ids', (ids) => ({ row_ids: [ids['bad'], ids['late'], ids['bad']] }), ['bad', 'late']],
    ['status_filters', () => ({ status_filters: [{ action: 'any', is: ['failed'] }] }), ['bad']],
    ['find', () => ({ find: 'LATE' }), ['late']],
    ['created_at', () => ({ created_at: { operator: 'less than', values: ['2020-01-01'] } }), []],
    ['first_10', () => ({ first_10: true }), ['good', 'bad', 'ended', 'late']],
    ['no selector', () => ({}), ['good', 'bad', 'ended', 'late']],
  ])('run-all and delete-all take %s', async (_, selectorOf, names) => {
    const { base, ids } = await makeSheet()
    const selector = selectorOf(ids)
    const ran = await org.call('POST', `${base}/run-all`, selector)
    expect([ran.status, ran.body.data]).toEqual([200, { rows_queued: names.length }])
    await settledRows(org, base)
    const left = ['good', 'bad', 'ended', 'late'].filter((name) => !names.includes(name))
    const deleted = await org.call('POST', `${base}/rows/delete-all`, selectorOf(ids))
    expect([deleted.status, deleted.body.data]).toEqual([200, { deleted_count: names.length }])
    const { rows, total_count } = (await org.call('POST', `${base}/rows/list`)).body.data
    expect([total_count, rows.map((row: Json) => row.inputs.x)]).toEqual([left.length, left])
  })

  it.each<[string, object]>([
    ['run-all', { first_10: true, filters: good }],
    ['run-all', { only: 'failed', filters: good }],
    ['run-all', { filters: [] }],
    ['run-all', { row_ids: [] }],
    ['rows/delete-all', { first_10: true, filters: good }],
    ['rows/delete-all', { filters: [] }],
    ['rows/delete-all', { row_ids: [] }],
    ['rows/delete-all', { row_ids: ['00000000-0000-7000-8000-000000000000'] }],
    ['rows/delete-all', { filters: [{ ...good[0], variable: '{{input.y}}' }] }],
  ])('%s refuses %j', async (path, body) => {
    const { base } = await makeSheet()
    expect((await org.call('POST', `${base}/${path}`, body)).status).toBe(400)
    expect((await org.call('POST', `${base}/rows/list`)).body.data.total_count).toBe(4)
  })
})

describe('D78: every answer to a request that queued a run has its id in X-Run-Id', () => {
  it('Add Rows, Run Action, webhooks; and none if nothing was queued', async () => {
    const { base } = await makeSheet()
    const latest = async () => (await org.call('GET', `${base}/runs`)).body.data[0].run_id
    const quiet = await org.call('POST', `${base}/rows`, { rows: [{ x: 'a' }] })
    expect(quiet.headers['x-run-id']).toBeUndefined()
    const added = await org.call('POST', `${base}/rows`, { rows: [{ x: 'a' }], run_after_add: 'all' })
    expect(added.headers['x-run-id']).toBe(await latest())
    const acted = await org.call('POST', `${base}/actions/filter_1/run`, {})
    expect(acted.headers['x-run-id']).toBe(await latest())
    const nothing = await org.call('POST', `${base}/run`, {
      filters: [{ variable: '{{input.x}}', operator: 'is', values: ['nobody'] }],
    })
    expect([nothing.body.data, nothing.headers['x-run-id']]).toEqual([{ rows_queued: 0 }, undefined])
  })
})
