import { describe, expect, it } from 'vitest'
import { defineAction } from '#server/catalog/define.ts'
import { done } from '#server/catalog/outcome.ts'
import { output } from '#server/catalog/outputs.ts'
import { loadCatalogue } from '#server/catalog/registry.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { shareShortcut } from '#server/shortcuts/lifecycle.ts'
import { recordFinishedRuns } from '#server/shortcuts/run-status.ts'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { type Json, makeApp, type TestOrg } from '#test/plumbing/harness.ts'
import { startTestWorker } from '#test/plumbing/worker.ts'
import { endedRun, formula, FORMULA, republish, type Step, shortcutsOf } from '../../api/testing/shortcut.ts'

const costly = defineAction({
  id: 'costly',
  name: 'Costly',
  description: 'Costs more than anybody has.',
  category: 'data',
  credits: 1_000_000,
  inputs: {},
  outputs: { treasure: output.text('A text.') },
  run: () => done({ treasure: 'gold' }),
})
const catalogue = catalogueOf(...(await loadCatalogue()).list(), costly)
const app = await makeApp({ services: { catalogue } })
await startTestWorker(app)
const org = await app.makeOrg()

const { makeShortcut, run, rowsOf } = shortcutsOf(app, org)

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const UUID = expect.stringMatching(/^[0-9a-f-]{36}$/)
const GREETING = formula('"Hello " + {{input.Full Name}}')

describe('4.8 single runs', async () => {
  const { id, path, sheet, workflow } = await makeShortcut([GREETING])

  it('answers 201 with a pending run, which is a row of the workflow and finishes with its fields', async () => {
    const { status, body } = await org.call('POST', `${path}/run`, { input_data: { full_name: 'Ada', n: 3 } })
    expect([status, body]).toEqual([
      201,
      {
        status: 201,
        message: expect.any(String),
        data: { id: UUID, data_id: UUID, status: 'pending', created_at: TIME },
      },
    ])
    expect(await endedRun(org, `${path}/runs/${body.data.id}`)).toEqual({
      id: body.data.id,
      app_id: id,
      workflow_id: workflow,
      data_id: body.data.data_id,
      user_email: org.adminEmail,
      org_id: org.orgId,
      batch_id: null,
      input_data: { full_name: 'Ada', n: 3 },
      output_data: { formatted_data: { value: 'Hello Ada', status: 'completed' } },
      status: 'completed',
      error_message: null,
      created_at: body.data.created_at,
      completed_at: TIME,
    })
    const [row] = await rowsOf(sheet)
    expect(row).toMatchObject({
      row_id: body.data.data_id,
      row_status: 'complete',
      inputs: { 'Full Name': 'Ada', n: '3' },
    })
  })

  it('D45: a run counts as the latest run of the workflow', async () => {
    expect((await org.call('GET', `/workflows/${workflow}`)).body.data.last_run_at).toEqual(TIME)
  })

  it.each([
    ['D69: no body', undefined, ['input_data']],
    ['no input_data', {}, ['input_data']],
    ['input_data that is no object', { input_data: [] }, ['input_data']],
    ['a number as input_data', { input_data: 5 }, ['input_data']],
    [
      'unknown keys',
      { input_data: { who: 1, n: 2, 'Full Name': 3 } },
      ['input_data.who', 'input_data.Full Name'],
    ],
    ['a key of every object', '{"input_data":{"__proto__":1}}', ['input_data.__proto__']],
  ])('%s is 400, and nothing is added', async (_what, body, fields) => {
    const before = (await rowsOf(sheet)).length
    const answer = await org.call('POST', `${path}/run`, body)
    expect([answer.status, answer.body.errors?.map((error: Json) => error.field)]).toEqual([400, fields])
    if (fields.length > 1) expect(answer.body.errors[0].message).toContain('valid references: full_name, n')
    expect((await rowsOf(sheet)).length).toBe(before)
  })

  it('missing fields fall back to the default, then to an empty string', async () => {
    const chain = [formula('JSON.stringify([{{input.Full Name}}, {{input.n}}])')]
    const inputs = [{ name: 'Full Name' }, { name: 'n', required: true, defaultValue: '42' }]
    const own = await makeShortcut(chain, { inputs })
    const ended = await run(own.path, {})
    expect(ended.input_data).toEqual({ full_name: '', n: '42' })
    expect(ended.output_data.formatted_data.value).toBe('["","42"]')
    expect((await run(own.path, { full_name: null, n: '' })).input_data).toEqual({ full_name: '', n: '' })
    expect((await rowsOf(own.sheet)).map((row) => row.inputs['Full Name'])).toEqual(['', ''])
  })

  it('D94: a required field without a default must be given', async () => {
    const inputs = [{ name: 'Full Name', required: true }, { name: 'n' }]
    const own = await makeShortcut([GREETING], { inputs })
    for (const input_data of [{}, { full_name: null, n: 1 }, { full_name: '' }]) {
      const refused = await org.call('POST', `${own.path}/run`, { input_data })
      expect([refused.status, refused.body.errors]).toEqual([
        400,
        [{ field: 'input_data.full_name', message: 'required' }],
      ])
    }
    const batch = await org.call('POST', `${own.path}/run/batch`, {
      rows: [{ full_name: 'Ada' }, { n: 1 }, { full_name: 'Bob', who: 1 }],
    })
    expect([batch.status, batch.body.errors.map((error: Json) => error.field)]).toEqual([
      400,
      ['rows[1].full_name', 'rows[2].who'],
    ])
    expect(await rowsOf(own.sheet)).toEqual([])
    expect((await run(own.path, { full_name: 'Ada' })).status).toBe('completed')
  })

  it('D79: a value that does not fit its field is a warning that names its place', async () => {
    const message = (place: string) => `1 value doesn't look like a number (stored as it is): ${place}`
    const single = await org.call('POST', `${path}/run`, { input_data: { n: 'three' } })
    expect([single.status, single.body.warnings]).toEqual([
      201,
      [{ field: 'input_data.n', code: 'type_mismatch', message: message('input_data') }],
    ])
    const batch = await org.call('POST', `${path}/run/batch`, { rows: [{ n: 3 }, { n: 'three' }, { n: 3 }] })
    expect([batch.status, batch.body.warnings]).toEqual([
      201,
      [{ field: 'rows[1].n', code: 'type_mismatch', message: message('rows[1]') }],
    ])
  })

  it.each<[string, Step[], string]>([
    [
      'one field',
      [{ action_id: 'normalize_domain', inputs: { value: '{{input.Full Name}}' } }],
      'required and empty: full_name',
    ],
    [
      'two fields in one input',
      [{ action_id: 'normalize_domain', inputs: { value: '{{input.Full Name}}{{input.n}}' } }],
      'required and empty: full_name, n',
    ],
    [
      'one of several ways to ask',
      [{ action_id: 'company_news', inputs: { company_name: '{{input.Full Name}}', domain: '{{input.n}}' } }],
      'one of these must be set: full_name; n',
    ],
    ['an input that nobody filled in', [{ action_id: 'normalize_domain' }], 'required and empty: value'],
  ])(
    "a missing field is named by the form's field, not the inner action's: %s",
    async (_what, chain, words) => {
      const own = await makeShortcut(chain)
      const ended = await run(own.path, {})
      expect([ended.status, ended.error_message]).toEqual(['error', words])
    },
  )

  it('values keep every digit, and characters that cannot be stored are replaced with a warning', async () => {
    const text = '{"input_data":{"full_name":"a\\u0000b","n":12345678901234567890}}'
    const answer = await org.call('POST', `${path}/run`, text)
    expect(answer.body.warnings).toEqual([
      { field: 'input_data.full_name', code: 'value_normalized', message: expect.any(String) },
    ])
    const raw = await app.api.inject({
      url: `/api/v1${path}/runs/${answer.body.data.id}`,
      headers: { authorization: `Bearer ${org.key}` },
    })
    expect(raw.body).toContain('"n":12345678901234567890')
    expect(raw.json().data.input_data.full_name).toBe('a\uFFFDb')
  })

  it('a run of another shortcut is 404, also to the holder of a copy', async () => {
    const other = await makeShortcut([GREETING])
    const { id: runId } = await run(path, {})
    expect((await org.call('GET', `${other.path}/runs/${runId}`)).status).toBe(404)
    expect((await org.call('GET', `/apps/${id}/runs/${runId.toUpperCase()}`)).status).toBe(200)
  })
})

describe('D50 the frozen version', () => {
  it('runs and copies use it until the shortcut is republished, whatever happens to the workflow', async () => {
    const { id, path, sheet } = await makeShortcut([GREETING])
    const bob = await org.keyFor('bob@example.com', 'user')
    const asBob = { call: (...args: Parameters<TestOrg['call']>) => app.call(bob, ...args) }
    const master = await republish(app, org, id)
    const copy = await shareShortcut(app.store.system, OPERATOR, master, {
      email: 'bob@example.com',
      shared: true,
    })
    const copyPath = `/apps/${copy.shortcut_id}`
    const greet = async () => {
      const ended = [await run(path, { full_name: 'Ada' }), await run(copyPath, { full_name: 'Bob' }, asBob)]
      return ended.map((one) => one.output_data)
    }
    const greeting = (value: string) => ({ formatted_data: { value, status: 'completed' } })

    await org.call('PATCH', `${sheet}/actions/${FORMULA}_1`, {
      inputs: { data_formatter: '"Bye " + {{input.Full Name}}' },
    })
    expect(await greet()).toEqual([greeting('Hello Ada'), greeting('Hello Bob')])

    await org.call('DELETE', `${sheet}/inputs/Full%20Name`)
    await org.call('DELETE', `${sheet}/actions/${FORMULA}_1`)
    await org.call('POST', `${sheet}/inputs`, [{ name: 'Full Name', type: 'string' }])
    await org.call('POST', `${sheet}/actions/add`, formula('"Bye " + {{input.Full Name}}'))
    expect(await greet()).toEqual([greeting('Hello Ada'), greeting('Hello Bob')])

    await republish(app, org, id)
    expect(await greet()).toEqual([greeting('Bye Ada'), greeting('Bye Bob')])
    const { runs, pagination } = (await asBob.call('GET', `${copyPath}/runs`)).body.data
    expect([runs.length, pagination.total, runs[0].user_email]).toEqual([3, 3, 'bob@example.com'])
    expect((await org.call('GET', `${path}/runs`)).body.data.pagination.total).toBe(3)
  })
})

describe('the status of a run', () => {
  const FAILS = formula('no.such.name')
  const never = {
    conditions: [{ conditions: [{ variable: '{{input.n}}', operator: 'is', values: ['never'] }] }],
  }
  const ok = (value: unknown) => ({ value, status: 'completed' })
  const empty = (status: string) => ({ value: null, status })

  it.each<[string, Step[], string, Json, Json]>([
    [
      'completed where a failure may be passed over; its field has a status of its own',
      [{ ...FAILS, continue_workflow_if_action_fails: true }, formula('2')],
      'completed',
      { formatted_data: empty('failed'), formatted_data_2: ok('2') },
      null,
    ],
    [
      'failed where the row halts on a failure',
      [FAILS, formula('2')],
      'failed',
      { formatted_data: empty('failed'), formatted_data_2: empty('skipped') },
      expect.stringContaining('no'),
    ],
    [
      'completed where the last action fails and may',
      [formula('1'), { ...FAILS, continue_workflow_if_action_fails: true }],
      'completed',
      { formatted_data: ok('1'), formatted_data_2: empty('failed') },
      null,
    ],
    [
      'error where an action cannot be run',
      [formula('{{input.no such input}}')],
      'error',
      { formatted_data: empty('error') },
      expect.stringContaining('no such input'),
    ],
    [
      'outOfCredits, whatever the flag says',
      [{ action_id: 'costly', continue_workflow_if_action_fails: true }, formula('2')],
      'outOfCredits',
      { treasure: empty('outOfCredits'), formatted_data: empty('skipped') },
      expect.stringContaining('credits'),
    ],
    [
      'completed where a condition ends the row',
      [formula('1', { run_if: never }), formula('2')],
      'completed',
      { formatted_data: empty('conditionNotMet'), formatted_data_2: empty('skipped') },
      null,
    ],
  ])('is %s', async (_what, chain, status, output_data, error_message) => {
    const { path } = await makeShortcut(chain)
    const ended = await run(path, {})
    expect([ended.status, ended.output_data, ended.error_message]).toEqual([
      status,
      output_data,
      error_message,
    ])
  })

  const delayed = [{ action_id: 'delay_step', inputs: { time: '60' } }, formula('1')]
  const statusOf = async (path: string) => (await org.call('GET', path)).body.data

  it('is inProgress while it waits; a stopped or deleted row ends it with an error and the reason', async () => {
    const { path, sheet } = await makeShortcut(delayed)
    const start = async () => {
      const { data } = (await org.call('POST', `${path}/run`, { input_data: {} })).body
      const at = `${path}/runs/${data.id}`
      await expect.poll(async () => (await statusOf(at)).status).toBe('inProgress')
      expect(await statusOf(at)).toMatchObject({ output_data: null, completed_at: null, error_message: null })
      return { at, row: data.data_id }
    }
    const [first, second] = [await start(), await start()]
    await org.call('POST', `${sheet}/rows/delete`, { row_ids: [first.row] })
    const skipped = { formatted_data: empty('skipped') }
    expect(await statusOf(first.at)).toMatchObject({
      status: 'error',
      error_message: expect.stringContaining('deleted'),
      output_data: skipped,
      completed_at: TIME,
    })
    await org.call('POST', `${sheet}/stop`)
    expect(await endedRun(org, second.at)).toMatchObject({
      status: 'error',
      error_message: expect.stringContaining('stopped'),
    })
  })

  it('a finished run never changes: not by edits, re-runs or deletion of its row', async () => {
    const { path, sheet } = await makeShortcut([formula('Math.random()')])
    const ended = await run(path, {})
    const again = () => statusOf(`${path}/runs/${ended.id}`)
    await org.call('POST', `${sheet}/run`, { row_ids: [ended.data_id] })
    expect(await again()).toEqual(ended)
    await org.call('POST', `${sheet}/rows/delete-all`)
    expect(await again()).toEqual(ended)
  })

  it('an unread run is recorded before its row is deleted', async () => {
    const { path, sheet } = await makeShortcut([formula('"kept"')])
    const { data } = (await org.call('POST', `${path}/run/batch`, { rows: [{}, {}] })).body
    await expect
      .poll(async () => (await rowsOf(sheet)).map((row) => row.row_status))
      .toEqual(['complete', 'complete'])
    await recordFinishedRuns(app.store.system)
    await org.call('POST', `${sheet}/rows/delete-all`)
    const { runs } = await statusOf(`${path}/runs?batch_id=${data.batch_id}`)
    expect(runs.map((one: Json) => [one.status, one.output_data.formatted_data.value])).toEqual([
      ['completed', 'kept'],
      ['completed', 'kept'],
    ])
  })
})
