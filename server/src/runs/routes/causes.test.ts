import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { describeFailure } from '#contract/failure-words.ts'
import { done, failed, unrunnable } from '#server/catalog/outcome.ts'
import { newId } from '#server/lib/ids.ts'
import { countCauses, wantedCells } from '#server/runs/store/causes.ts'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { makeLargeSheet } from '#test/builders/large-sheet.ts'
import { makePaidSheet, paidAction } from '#test/builders/paid-action.ts'
import type { Call } from '#test/builders/sheets.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'

/** The errors of the rows by their text; others succeed. */
const errors = new Map<string, string>()
const paid = paidAction((text) => {
  const error = errors.get(text)
  if (error === undefined) return done({ value: text })
  return error.startsWith('!') ? unrunnable(error.slice(1)) : failed(error)
})

const app = await makeApp({ services: { catalogue: catalogueOf(paid) } })
await startTestWorker(app)
const org = await app.makeOrg()

/** Makes a sheet with a row for each of the errors, which have failed, and one that is complete. */
async function makeFailedSheet(found: readonly string[], cap: object = {}) {
  errors.clear()
  for (const [n, error] of found.entries()) errors.set(`x${n}`, error)
  const base = await makePaidSheet(org)
  const rows = [...found.keys(), 'good'].map((n) => ({ x: n === 'good' ? n : `x${n}` }))
  const added = await org.call('POST', `${base}/rows`, { rows, run_after_add: 'all', ...cap })
  await settledRows(org, base)
  return { base, ids: added.body.data.row_ids as string[] }
}

const causesOf = async (base: string, query = ''): Promise<Json> =>
  (await org.call('GET', `${base}/causes${query}`)).body.data

describe('H11: causes of failed cells', () => {
  it('numbers, ids, addresses and quoted values do not part causes; actions, statuses and words do', async () => {
    const alike: string[][] = [
      ['row 17 has 1 mistake', 'row 4 has 2 mistakes', 'row 1,200.5 has 30 mistakes'],
      ['no company acme.com', 'no company other.example.org'],
      ['user 6f1d0a8e-6a43-4a9f-8f14-0c7b1f0e9d11 is gone', 'user req_8Hd72a is gone'],
      ['"Acme" is taken', "'Other Ltd' is taken"],
      ['https://a.example/x?y=1 cannot be read', 'http://b.example cannot be read'],
      ['mail to ann@a.example bounced', 'mail to bob.b@b.example.com bounced'],
      ['HTTP 404: no 17', 'HTTP 404: no 18'],
      ['HTTP 500: no 17'],
      ['!it was not configured'],
      ['inputs.method is empty'],
      ['inputs.endpoint is empty'],
    ]
    const { base } = await makeFailedSheet(alike.flat())
    const { causes, ...rest } = await causesOf(base)
    expect(rest).toEqual({ cells: 19, rows: 19, truncated: false })
    const raw = (one: string[]) => one.map((error) => error.replace('!', '')).toSorted()
    expect(causes.map((one: Json) => one.raw.toSorted()).toSorted()).toEqual(alike.map(raw).toSorted())
    expect(causes.map((one: Json) => one.cells)).toEqual(
      [3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1].toSorted((a, b) => b - a),
    )
    expect(causes[0]).toEqual({
      cause: expect.stringMatching(/^[0-9a-f]{32}$/),
      action_instance_id: 'paid_1',
      status: 'failed',
      words: expect.stringMatching(/^Row [\d,.]+ has/),
      hint: expect.stringMatching(/\.$/),
      raw: expect.anything(),
      cells: 3,
      rows: 3,
    })
    const byRaw = (text: string) =>
      causes.find((one: Json) => one.raw.some((raw: string) => raw.includes(text)))
    expect(byRaw('not configured').status).toBe('error')
    expect(byRaw('HTTP 404').words).toBe('The API returned 404')
    expect(await causesOf(base, '?limit=2')).toMatchObject({
      causes: causes.slice(0, 2),
      cells: 19,
      truncated: true,
    })
  })

  it('a cause selects its rows wherever filters are taken, and keeps its key in the next run', async () => {
    const { base, ids } = await makeFailedSheet(['bad 1', 'bad 2', 'worse'])
    const { causes } = await causesOf(base)
    const [{ cause }] = causes
    const other = causes[1].cause
    const post = async (path: string, body: object, status = 200) => {
      const answer = await org.call('POST', `${base}/${path}`, body)
      expect([answer.status, answer.body.errors], path).toEqual([status, undefined])
      return answer.body.data
    }
    const listed = await post('rows/list', { cause })
    expect([listed.total_count, listed.rows.map((row: Json) => row.row_id)]).toEqual([2, ids.slice(0, 2)])
    const filters = [{ variable: '{{input.x}}', operator: 'is equal to', values: ['x1'] }]
    expect((await post('rows/list', { cause, filters })).total_count).toBe(1)
    const status_filters = [{ action_instance_id: 'paid_1', is: ['failed'] }]
    expect((await post('rows/list', { cause, status_filters })).total_count).toBe(2)
    expect((await post('rows/list', { cause: '0'.repeat(32) })).total_count).toBe(0)
    for (const path of ['estimate', 'run', 'run-all', 'actions/paid_1/run'])
      expect((await post(path, path === 'estimate' ? { cause } : { cause, dry_run: true })).rows, path).toBe(
        2,
      )
    expect((await post('run', { cause, from: 'failure', dry_run: true })).rows).toBe(2)
    const exported = await post('export', { cause }, 202)
    await expect
      .poll(async () => (await org.call('GET', `${base}/export/${exported.export_id}`)).body.data)
      .toMatchObject({ status: 'completed', row_count: 2 })
    // Malformed keys, and keys beside other selectors, are refused.
    for (const [path, body, field] of [
      ['rows/list', { cause: 'x' }, 'cause'],
      ['rows/list', { cause, row_ids: ids }, 'cause'],
      ['run', { cause: `${cause}' or true` }, 'cause'],
      ['run', { cause, first_10: true }, 'body'],
      ['estimate', { cause: 7 }, 'cause'],
      ['export', { cause: 'A'.repeat(65) }, 'cause'],
      ['rows/delete-all', { cause: '' }, 'cause'],
      ['actions/paid_1/run', { cause, row_ids: ids }, 'row_ids'],
    ] as const) {
      const refused = await org.call('POST', `${base}/${path}`, body)
      expect([refused.status, refused.body.errors[0].field], path).toEqual([400, field])
    }
    const started = await org.call('POST', `${base}/run`, { cause })
    expect(started.body.data).toEqual({ rows_queued: 2 })
    await settledRows(org, base)
    const run = String(started.headers['x-run-id'])
    expect(await causesOf(base, `?run_id=${run}`)).toMatchObject({
      causes: [{ cause, cells: 2 }],
      cells: 2,
      rows: 2,
    })
    // A cell that succeeds has no cause any more; a deleted row takes its cause along.
    errors.clear()
    await post('run', { cause })
    await settledRows(org, base)
    expect((await causesOf(base)).causes.map((one: Json) => one.cause)).toEqual([other])
    expect((await post('rows/delete-all', { cause: other })).deleted_count).toBe(1)
    expect(await causesOf(base)).toEqual({ causes: [], cells: 0, rows: 0, truncated: false })
  })

  it('cells out of credits are one cause whatever they need, and other callers see nothing', async () => {
    const { base } = await makeFailedSheet(['bad'], { max_credits: 0 })
    const { causes } = await causesOf(base)
    expect(causes.filter((one: Json) => one.status === 'out_of_credits')).toMatchObject([
      { words: 'The credit limit of the run was reached', hint: expect.stringContaining('higher limit') },
    ])
    const stranger = await app.makeOrg()
    expect((await stranger.call('GET', `${base}/causes`)).status).toBe(404)
    for (const [query, status] of [
      [`?run_id=${newId()}`, 404],
      ['?run_id=x', 400],
      ['?limit=0', 400],
      ['?limit=201', 400],
    ] as const)
      expect((await org.call('GET', `${base}/causes${query}`)).status, query).toBe(status)
  })

  it('causes are counted by an index of failed cells alone, before statistics exist', async () => {
    const large = await app.makeOrg()
    const call: Call = async (method, path, body) => (await large.call(method, path, body)).body
    const sheet = await makeLargeSheet(app.store, call, large.orgId, 3000, { analysed: false })
    const key = { org_id: large.orgId, sheet_id: sheet.sheetId }
    const db = app.store.org(large.orgId)
    const plan = await db.transaction().execute(async (trx) => {
      const { sql: text, parameters } = countCauses(key, wantedCells(key, newId(), null)).compile(trx)
      return sql<{ 'QUERY PLAN': string }>`explain ${sql.raw(
        text.replaceAll(/\$(\d+)/g, (_, n: string) => `'${String(parameters[Number(n) - 1])}'`),
      )}`.execute(trx)
    })
    const lines = plan.rows.map((row) => row['QUERY PLAN']).join('\n')
    expect(lines).not.toMatch(/Seq Scan on cells/)
    expect(lines.match(/Scan using (\w+) on cells/g)).toEqual(
      expect.arrayContaining(['Scan using cells_by_cause on cells']),
    )
    expect(lines).not.toMatch(/Scan using (?!cells_by_cause)\w+ on cells/)
  })
})

it.each([
  ['failed', 'required and empty: company_domain', 'Company domain is empty'],
  [
    'error',
    'Skipped: required and empty: value; http_api_call_1 gave no result',
    'Skipped, because an earlier action gave no result',
  ],
  [
    'error',
    'unknown references: {{input.gone}}',
    'The configuration refers to something that does not exist',
  ],
  ['error', 'the environment variable CRM_KEY has no value here', 'The variable CRM_KEY has no value'],
  [
    'error',
    'HubSpot is not connected; add it with loam connection add --provider hubspot',
    'HubSpot is not connected',
  ],
  ['failed', 'Hunter: the key was refused', 'The key was refused'],
  ['failed', 'the model server answered HTTP 503: slow down (after 4 attempts)', 'The API returned 503'],
  ['failed', 'HTTP 429: slow (after 4 attempts)', 'The service received too many requests'],
  ['failed', 'no answer within 30 s', 'No answer in time'],
  [
    'failed',
    'https://a.example: no connection (ECONNREFUSED). Check host and port, or try again.',
    'No connection to the server',
  ],
  ['failed', 'https://a.example: there is no such host. Check its name.', 'The server does not exist'],
  [
    'failed',
    'TypeError: cannot read property "name" of undefined',
    'The formula uses a value that is missing',
  ],
  [
    'error',
    'this row crashed its worker 3 times and will not be retried',
    'This row crashed the server three times',
  ],
  [
    'out_of_credits',
    'Paid may cost 2 credits, and 1 is left of the budget "Team". Raise',
    'The budget Team was used up',
  ],
  ['failed', '', 'No reason was given'],
  ['failed', 'something odd happened. More of it.', 'Something odd happened'],
] as const)('H11: %s "%s" is told as "%s"', (status, error, words) => {
  const told = describeFailure(status, error)
  expect(told.words).toBe(words)
  expect(told.hint).toMatch(/^[A-Z].{20,}\.$/)
})
