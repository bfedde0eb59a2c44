import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { done, failed, wait } from '#server/catalog/outcome.ts'
import { loadCatalogue } from '#server/catalog/registry.ts'
import { createCellTests } from '#server/runs/cell-tests/running/run-test.ts'
import { makeEngine } from '#server/runs/engine/testing/test-engine.ts'
import { forgetTests } from '#server/runs/store/cell-tests.ts'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { makePaidSheet, paidAction } from '#test/builders/paid-action.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'

let gate = Promise.withResolvers<void>()
let calls: string[] = []

beforeEach(() => {
  gate.resolve()
  gate = Promise.withResolvers()
  calls = []
})

/** An action that costs two credits. `wait` is answered when the test lets it, `bad` fails, `later` asks to be called again. */
const paid = paidAction(async (text, cellRun) => {
  calls.push(text)
  if (text.startsWith('wait')) await gate.promise
  if (text === 'later') return wait(86_000_000, {})
  return text === 'bad' ? failed('it was bad') : done({ value: `${text} of ${cellRun.length}` })
})

const catalogue = catalogueOf(paid, ...(await loadCatalogue()).list())
const app = await makeApp({ services: { catalogue } })
await startTestWorker(app)
const org = await app.makeOrg()

type Sheet = { base: string; action: string; ids: string[] }

async function makeSheet(
  values: string[],
  settings = {},
  steps: Parameters<typeof makePaidSheet>[1] = {},
): Promise<Sheet> {
  const base = await makePaidSheet(org, { settings, ...steps })
  const added = await org.call('POST', `${base}/rows`, { rows: values.map((x) => ({ x })) })
  return { base, action: `${base}/actions/paid_1`, ids: added.body.data.row_ids }
}

const balance = async (): Promise<number> => (await org.call('GET', '/credits')).body.data.balance
const detail = async ({ base, ids }: Sheet, n = 0) => org.call('GET', `${base}/rows/${ids[n]}/cells/paid_1`)
const runsOf = async (base: string): Promise<Json[]> => (await org.call('GET', `${base}/runs`)).body.data

describe('H5: POST A/test', () => {
  it('answers as a cell, is billed once with the trigger test, makes no run and leaves the cell empty', async () => {
    const sheet = await makeSheet(['a'], { cache_enabled: true })
    const before = await balance()
    const answer = await org.call('POST', `${sheet.action}/test`, { row_id: sheet.ids[0] })
    expect([answer.status, answer.body.data]).toEqual([
      200,
      {
        test_id: expect.any(String),
        status: 'complete',
        met: null,
        resolved: { text: 'a' },
        outputs: { value: expect.stringMatching(/^a of/) },
        error: null,
        credits: 2,
        cache_hit: false,
        duration_ms: expect.any(Number),
        providers: [],
        kept: false,
        warnings: [],
      },
    ])
    expect(await balance()).toBe(before - 2)
    const { test_id } = answer.body.data
    const entries = (await org.call('GET', '/credits/ledger?limit=1')).body.data.entries
    expect(entries[0]).toMatchObject({ amount: -2, trigger: 'test', action_id: 'paid', row_id: sheet.ids[0] })
    const usage = await org.call('GET', '/credits/usage?group_by=trigger')
    expect(usage.body.data.rows.find((row: Json) => row.trigger === 'test')).toMatchObject({
      cells_billed: expect.any(Number),
    })
    expect(await runsOf(sheet.base)).toEqual([])
    expect((await detail(sheet)).status).toBe(404)
    const polled = await org.call('GET', `${sheet.action}/test/${test_id}`)
    expect([polled.status, polled.body.data]).toEqual([200, answer.body.data])
    expect((await org.call('GET', `${sheet.base}/actions/other_1/test/${test_id}`)).status).toBe(404)
    // The answer is in the cache: the next test and the run are free.
    const again = await org.call('POST', `${sheet.action}/test`, { row_id: sheet.ids[0] })
    expect(again.body.data).toMatchObject({ credits: 0, cache_hit: true, outputs: answer.body.data.outputs })
    await org.call('POST', `${sheet.base}/run-all`)
    await settledRows(org, sheet.base)
    expect([calls, await balance()]).toEqual([['a'], before - 2])
    expect((await detail(sheet)).body.data.billing).toMatchObject({ credits: 0, saved_by_cache: 2 })
  })

  it('tests inputs and conditions that are not saved, which need actions:write', async () => {
    const sheet = await makeSheet(['a'])
    const is = (value: string) => ({
      conditions: [{ conditions: [{ variable: '{{input.x}}', operator: 'is', values: [value] }] }],
    })
    const test = (body: object) => org.call('POST', `${sheet.action}/test`, { row_id: sheet.ids[0], ...body })
    const changed = await test({ inputs: { text: 'new {{input.x}}' }, run_if: is('a') })
    expect(changed.body.data).toMatchObject({ status: 'complete', met: true, resolved: { text: 'new a' } })
    const skipped = await test({ run_if: is('b') })
    expect(skipped.body.data).toMatchObject({
      status: 'condition_not_met',
      met: false,
      credits: 0,
      outputs: null,
    })
    expect(calls).toEqual(['new a'])
    expect((await org.call('GET', sheet.action)).body.data.inputs).toEqual({ text: '{{input.x}}' })
    const runner = await org.keyFor('runner@example.com', 'member', { scopes: ['workflows:run'] })
    await org.call('POST', sheet.base.split('/sheets')[0] + '/share', {})
    const asRunner = (body: object) =>
      app.call(runner, 'POST', `${sheet.action}/test`, { row_id: sheet.ids[0], ...body })
    expect((await asRunner({})).status).toBe(403)
    const own = await app.makeOrg()
    const ownBase = await makePaidSheet(own, {})
    const row = (await own.call('POST', `${ownBase}/rows`, { rows: [{ x: 'o' }] })).body.data.row_ids[0]
    const narrow = await own.keyFor(own.adminEmail, 'admin', { scopes: ['workflows:run'] })
    const path = `${ownBase}/actions/paid_1/test`
    expect((await app.call(narrow, 'POST', path, { row_id: row })).status).toBe(200)
    const refused = await app.call(narrow, 'POST', path, { row_id: row, inputs: { text: 'x' } })
    expect([refused.status, refused.body.error]).toEqual([403, 'INSUFFICIENT_SCOPE'])
  })

  it('stops at caps, budgets and the balance: out_of_credits, and max_credits 0 tests what is free', async () => {
    const sheet = await makeSheet(['a'], { cache_enabled: false })
    const test = (body: object) => org.call('POST', `${sheet.action}/test`, { row_id: sheet.ids[0], ...body })
    const capped = await test({ max_credits: 1 })
    expect(capped.body.data).toMatchObject({ status: 'out_of_credits', credits: 0, outputs: null })
    expect(capped.body.data.error).toBe(
      'Paid may cost 2 credits, and 1 is left of max_credits. Test again with a higher max_credits',
    )
    const budget = { name: 'Trials', scope: 'organisation', period: 'run', limit: 1, trigger: 'test' }
    const made = await org.call('POST', '/credits/budgets', budget)
    expect(made.status).toBe(201)
    const stopped = await test({})
    expect(stopped.body.data).toMatchObject({
      status: 'out_of_credits',
      error: expect.stringContaining('"Trials"'),
    })
    await org.call('DELETE', `/credits/budgets/${made.body.data.budget_id}`)
    expect(calls).toEqual([])
  })

  it('keep writes a complete answer unbilled; other answers and other configurations cannot be kept', async () => {
    const sheet = await makeSheet(['a', 'bad', 'c'])
    const test = (n: number, body: object) =>
      org.call('POST', `${sheet.action}/test`, { row_id: sheet.ids[n], ...body })
    const kept = await test(0, { keep: true })
    expect(kept.body.data).toMatchObject({ status: 'complete', kept: true })
    const cell = (await detail(sheet)).body.data
    expect(cell).toMatchObject({
      status: 'complete',
      outputs: kept.body.data.outputs,
      provenance: { run_id: kept.body.data.test_id, credits: 0, cache_hit: false, attempts: 1 },
    })
    const failing = await test(1, { keep: true })
    expect([failing.status, failing.body.error]).toEqual([409, 'CANNOT_KEEP'])
    expect(failing.body.message).toContain('it was bad')
    const before = calls.length
    const draft = await test(2, { keep: true, inputs: { text: 'other' } })
    expect([draft.status, draft.body.error, calls.length]).toEqual([409, 'CANNOT_KEEP', before])
    const tested = (await test(2, { inputs: { text: 'other' } })).body.data.test_id
    const keep = () => org.call('POST', `${sheet.action}/test/${tested}/keep`)
    expect((await keep()).body).toMatchObject({ status: 409, error: 'CANNOT_KEEP' })
    // Once it is saved as it was tested, the answer may be kept.
    await org.call('PATCH', sheet.action, { inputs: { text: 'other' } })
    const late = await keep()
    expect([late.status, late.body.data]).toMatchObject([
      200,
      { row_id: sheet.ids[2], status: 'complete', provenance: { credits: 0 } },
    ])
    // A kept result is an ordinary one: the next run replaces it, and keeps it until then.
    await org.call('POST', `${sheet.base}/run`, { row_ids: [sheet.ids[2]] })
    await settledRows(org, sheet.base)
    expect((await detail(sheet, 2)).body.data.provenance.run_id).not.toBe(tested)
    expect((await org.call('POST', `${sheet.base}/rows/delete`, { row_ids: [sheet.ids[2]] })).status).toBe(
      200,
    )
    expect((await keep()).body).toMatchObject({ status: 409, error: 'CANNOT_KEEP' })
    const audit = await app.store.query({
      text: `select details from audit_entries where action = 'cell.kept' and org_id = $1`,
      values: [org.orgId],
    })
    expect(audit).toHaveLength(2)
  })

  it('a row that is running can be tested; its answer cannot be kept meanwhile', async () => {
    const sheet = await makeSheet(['wait'], { cache_enabled: false })
    await org.call('POST', `${sheet.base}/run-all`)
    await expect.poll(() => calls.length).toBe(1)
    const refused = await org.call('POST', `${sheet.action}/test`, { row_id: sheet.ids[0], keep: true })
    expect([refused.status, refused.body.error]).toEqual([409, 'CANNOT_KEEP'])
    const tested = await org.call('POST', `${sheet.action}/test`, {
      row_id: sheet.ids[0],
      inputs: { text: 'b' },
    })
    expect(tested.body.data.status).toBe('complete')
    gate.resolve()
    await settledRows(org, sheet.base)
  })

  it('dry_run resolves and prices, and calls nothing', async () => {
    const sheet = await makeSheet(['a'])
    const test = (body: object) =>
      org.call('POST', `${sheet.action}/test`, { row_id: sheet.ids[0], dry_run: true, ...body })
    expect((await test({})).body).toEqual({
      status: 200,
      data: { resolved: { text: 'a' }, met: null, warnings: [], credits: { expected: 2, at_most: 2 } },
    })
    const without = await test({ inputs: { text: null } })
    const formula = {
      action_id: 'format_data_using_js_expression',
      inputs: { data_formatter: '{{input.x}}.length' },
    }
    const path = `${sheet.base}/actions/test`
    const shown = await org.call('POST', path, { ...formula, row_id: sheet.ids[0], dry_run: true })
    expect(shown.body.data.resolved).toEqual({ data_formatter: '"a".length' })
    expect(without.body.data).toMatchObject({
      resolved: {},
      warnings: [{ code: 'required_field_missing', text: 'Enter a text' }],
    })
    expect(calls).toEqual([])
  })

  it('an action is tested before it is added', async () => {
    const sheet = await makeSheet(['https://www.stripe.com/about'])
    const body = { action_id: 'normalize_domain', inputs: { value: '{{input.x}}' }, row_id: sheet.ids[0] }
    const answer = await org.call('POST', `${sheet.base}/actions/test`, body)
    expect(answer.body.data).toMatchObject({
      status: 'complete',
      outputs: { domain: 'stripe.com' },
      credits: 0,
    })
    const polled = await org.call('GET', `${sheet.base}/tests/${answer.body.data.test_id}`)
    expect(polled.body.data).toEqual(answer.body.data)
    expect((await org.call('GET', `${sheet.base}/actions/graph`)).body.data).toHaveLength(2)
    const kept = await org.call('POST', `${sheet.base}/actions/test`, { ...body, keep: true })
    expect([kept.status, kept.body.error]).toEqual([409, 'CANNOT_KEEP'])
  })

  it('a fault of the body is named with all others', async () => {
    const sheet = await makeSheet(['a'])
    const fields = async (path: string, body: object) => {
      const { status, body: said } = await org.call('POST', path, body)
      return [status, said.errors?.map(({ field }: Json) => field).toSorted()]
    }
    const other = await makeSheet(['z'])
    const run_if = {
      conditions: [{ conditions: [{ variable: '{{input.x}}', operator: 'resembles', values: ['1'] }] }],
    }
    const wrong = { row_id: other.ids[0], run_if }
    expect(await fields(`${sheet.action}/test`, wrong)).toEqual([
      400,
      ['row_id', 'run_if.conditions[0].conditions[0].operator'],
    ])
    expect(await fields(`${sheet.action}/test`, { ...wrong, max_credit: 1 })).toEqual([
      400,
      ['max_credit', 'row_id', 'run_if.conditions[0].conditions[0].operator'],
    ])
    expect(
      await fields(`${sheet.base}/actions/test`, { action_id: 'nothing', row_id: sheet.ids[0] }),
    ).toEqual([400, ['action_id']])
    expect(await fields(`${sheet.action}/test`, {})).toEqual([400, ['row_id']])
    expect(await fields(`${sheet.action}/test`, { row_id: '__proto__' })).toEqual([400, ['row_id']])
    const stranger = await app.makeOrg()
    const body = { row_id: sheet.ids[0] }
    expect((await stranger.call('POST', `${sheet.action}/test`, body)).status).toBe(404)
    const mine = await org.call('POST', `${sheet.action}/test`, body)
    expect((await stranger.call('GET', `${sheet.action}/test/${mine.body.data.test_id}`)).status).toBe(404)
    expect((await org.call('GET', `${other.action}/test/${mine.body.data.test_id}`)).status).toBe(404)
  })

  it('ten tests of an organisation may be under way; others have their turn, and a parked one goes on for a day', async () => {
    const sheet = await makeSheet(Array.from({ length: 10 }, (_, n) => `wait ${n}`))
    const parked = await makeSheet(['later'])
    const later = org.call(
      'POST',
      `${parked.action}/test`,
      { row_id: parked.ids[0] },
      { 'idempotency-key': 'later' },
    )
    const parkedTests = {
      text: `select from cell_tests where org_id = $1 and status = 'parked'`,
      values: [org.orgId],
    }
    await expect.poll(async () => (await app.store.query(parkedTests)).length).toBe(1)
    const started = sheet.ids.map((row_id) => org.call('POST', `${sheet.action}/test`, { row_id }))
    await expect.poll(() => calls.length).toBe(11)
    const eleventh = await org.call('POST', `${sheet.action}/test`, { row_id: sheet.ids[0] })
    expect([eleventh.status, eleventh.headers['retry-after']]).toEqual([429, '1'])
    const other = await app.makeOrg()
    const base = await makePaidSheet(other, {})
    const row = (await other.call('POST', `${base}/rows`, { rows: [{ x: 'free' }] })).body.data.row_ids[0]
    expect((await other.call('POST', `${base}/actions/paid_1/test`, { row_id: row })).body.data.status).toBe(
      'complete',
    )
    gate.resolve()
    const ended = await Promise.all(started)
    expect(ended.map(({ body }) => body.data.status)).toEqual(Array(10).fill('complete'))
    // The call with a key is answered at once with the test that goes on.
    const again = await org.call(
      'POST',
      `${parked.action}/test`,
      { row_id: parked.ids[0] },
      { 'idempotency-key': 'later' },
    )
    expect([again.status, again.body.data]).toEqual([202, { test_id: expect.any(String), status: 'running' }])
    const polled = await org.call('GET', `${parked.action}/test/${again.body.data.test_id}`)
    expect([polled.status, polled.body.data.status]).toEqual([202, 'running'])
    const keep = await org.call('POST', `${parked.action}/test/${again.body.data.test_id}/keep`)
    expect(keep.body).toMatchObject({ status: 409, error: 'CANNOT_KEEP' })
    await sql`update cell_tests set created_at = now() - interval '25 hours' where test_id = ${again.body.data.test_id}`.execute(
      app.store.system,
    )
    await forgetTests(app.store.system)
    expect((await org.call('GET', `${parked.action}/test/${again.body.data.test_id}`)).status).toBe(404)
    // Its call waits on, until the server ends.
    void later
  })

  it('two workers with the same test charge it once', async () => {
    const second = await makeApp({ services: { catalogue: catalogueOf(paid) } })
    const own = await second.makeOrg()
    const base = await makePaidSheet(own, {})
    const row = (await own.call('POST', `${base}/rows`, { rows: [{ x: 'wait' }] })).body.data.row_ids[0]
    const answering = own.call('POST', `${base}/actions/paid_1/test`, { row_id: row })
    const findJob = () =>
      second.store.query<{ test_id: string; ticket: number }>({
        text: 'select test_id, ticket from cell_tests',
      })
    await expect.poll(async () => (await findJob()).length).toBe(1)
    const [made] = await findJob()
    const engine = makeEngine(second)
    const run = createCellTests({ store: second.store, catalogue: catalogueOf(paid), engine })
    const job = { org: own.orgId, test: made?.test_id, ticket: made?.ticket }
    const first = run(job)
    await expect.poll(() => calls.length).toBe(1)
    const taken = run(job)
    await expect.poll(() => calls.length).toBe(2)
    gate.resolve()
    await Promise.all([first, taken])
    expect((await answering).body.data).toMatchObject({ status: 'complete', credits: 2 })
    await engine.flush()
    const credits = (await own.call('GET', '/credits')).body.data
    expect(credits).toMatchObject({ balance: 998, held: 0 })
    expect(
      (await own.call('GET', '/credits/ledger')).body.data.entries.filter(
        ({ type }: Json) => type === 'charge',
      ),
    ).toHaveLength(1)
  })
})

describe('H7: POST S/conditions/check', () => {
  it('counts the rows that pass, and says the condition in words', async () => {
    const sheet = await makeSheet(['a', 'b', '', '12'])
    const check = (body: object) => org.call('POST', `${sheet.base}/conditions/check`, body)
    const leaf = (operator: string, values?: string[], combinator?: string) => ({
      variable: '{{input.x}}',
      operator,
      ...(values && { values }),
      ...(combinator && { combinator }),
    })
    const run_if = {
      conditions: [
        { conditions: [leaf('is not empty'), leaf('is', ['a'], 'AND')] },
        { conditions: [leaf('starts with', ['1'])], combinator: 'OR' },
      ],
    }
    const answer = await check({ run_if })
    expect([answer.status, answer.body.data]).toEqual([
      200,
      { looked_at: 4, passed: 2, words: '(x is not empty and x is "a") or x starts with "1"' },
    ])
    expect((await check({ run_if, rows: 2 })).body.data.looked_at).toBe(2)
    const output = { conditions: [{ conditions: [{ variable: '{{paid_1.value}}', operator: 'is empty' }] }] }
    expect((await check({ run_if: output })).body.data).toEqual({
      looked_at: 4,
      passed: 4,
      words: 'Paid › value is empty',
    })
    expect((await check({ run_if: null })).body.data).toEqual({ looked_at: 4, passed: 4, words: 'Every row' })
    for (const [body, field] of [
      [{ run_if, rows: 1001 }, 'rows'],
      [{ run_if, first: 3 }, 'first'],
      [{}, 'run_if'],
      [
        { run_if: { conditions: [{ conditions: [leaf('resembles', ['a'])] }] } },
        'run_if.conditions[0].conditions[0].operator',
      ],
    ] as const) {
      const refused = await check(body)
      expect([refused.status, refused.body.errors?.[0]?.field]).toEqual([400, field])
    }
  })
})
