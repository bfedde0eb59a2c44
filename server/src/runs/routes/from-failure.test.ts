import { beforeEach, describe, expect, it } from 'vitest'
import { done, failed } from '#server/catalog/outcome.ts'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { makePaidSheet, PAID, paidAction } from '#test/builders/paid-action.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'

/** The texts that fail, and those that were asked for. */
let bad = new Set<string>()
let asked: string[] = []

beforeEach(() => {
  bad = new Set()
  asked = []
})

const paid = paidAction((text) => {
  asked.push(text)
  return bad.has(text) ? failed(`the text ${text} was bad`) : done({ value: text })
})

const app = await makeApp({ services: { catalogue: catalogueOf(paid) } })
await startTestWorker(app)
const org = await app.makeOrg()

const step = (letter: string) => ({ ...PAID, inputs: { text: `${letter}{{input.x}}` } })
const CHAIN = [step('a'), step('b'), { ...PAID, inputs: { text: '{{paid_2.value}}c' } }]

async function makeSheet(xs: readonly string[], steps: readonly { action_id: string }[] = CHAIN) {
  const base = await makePaidSheet(org, { steps })
  const added = await org.call('POST', `${base}/rows`, { rows: xs.map((x) => ({ x })), run_after_add: 'all' })
  const ids: string[] = added.body.data.row_ids
  return { base, ids, statuses: async () => statusesOf(await settledRows(org, base)) }
}

/** Lists the statuses of each row, by the first letter. */
const statusesOf = (rows: Json[]): string[] =>
  rows.map(({ cells }) => ['paid_1', 'paid_2', 'paid_3'].map((id) => cells[id]?.status[0] ?? '-').join(''))
const post = async (path: string, body: object) => {
  const { status, body: answer, headers } = await org.call('POST', path, body)
  return { status, data: answer.data, run: String(headers['x-run-id']), errors: answer.errors }
}

describe('H11: `from: failure` runs each row from its first failed or missing cell', () => {
  it('complete cells stay, are not billed again, and are read by the cells that run; other rows are not queued', async () => {
    bad = new Set(['a2', 'b3'])
    const { base, ids, statuses } = await makeSheet(['1', '2', '3', '4'])
    expect(await statuses()).toEqual(['ccc', 'f--', 'cf-', 'ccc'])
    const added = await post(`${base}/rows`, { rows: [{ x: '5' }] })
    ids.push(...added.data.row_ids)
    bad = new Set()
    asked = []
    const wanted = { from: 'failure' }
    const estimate = await post(`${base}/estimate`, { all: true, ...wanted })
    expect(estimate.data).toMatchObject({ rows: 3, cells: { total: 8 }, credits: { at_most: 16 } })
    expect((await post(`${base}/run-all`, { ...wanted, dry_run: true })).data).toMatchObject({ rows: 3 })
    const started = await post(`${base}/run-all`, wanted)
    expect(started.data).toEqual({ rows_queued: 3 })
    expect(await statuses()).toEqual(['ccc', 'ccc', 'ccc', 'ccc', 'ccc'])
    expect(asked.toSorted()).toEqual(['a2', 'a5', 'b2', 'b2c', 'b3', 'b3c', 'b5', 'b5c'])
    await expect
      .poll(async () => (await org.call('GET', `${base}/runs/${started.run}`)).body.data)
      .toMatchObject({ state: 'finished', credits: 16, rows_queued: 3, rows_done: 3, cells_done: 8 })
    expect((await post(`${base}/run-all`, wanted)).data).toEqual({ rows_queued: 0 })
    expect((await post(`${base}/run-all`, { from: 'middle' })).errors[0].field).toBe('from')
    expect((await post(`${base}/actions/paid_1/run`, wanted)).status).toBe(400)
  })

  it('it narrows any selector, a skip that ends a row is no missing cell, and one that goes on is', async () => {
    const unless = (end: boolean) => ({
      run_if: {
        conditions: [{ conditions: [{ variable: '{{input.x}}', operator: 'is not', values: ['2'] }] }],
        continue_workflow_if_run_condition_not_met: !end,
      },
    })
    bad = new Set(['b3'])
    const { base, ids, statuses } = await makeSheet(
      ['1', '2', '3'],
      [{ ...step('a'), ...unless(true) }, step('b')],
    )
    expect(await statuses()).toEqual(['cc-', 'c--', 'cf-'])
    const run = (body: object) => post(`${base}/run`, { from: 'failure', dry_run: true, ...body })
    expect((await run({ row_ids: ids })).data.rows).toBe(1)
    expect((await run({ first_10: true })).data.rows).toBe(1)
    const filters = [{ variable: '{{input.x}}', operator: 'is equal to', values: ['1'] }]
    expect((await run({ filters })).data.rows).toBe(0)
    await org.call('PATCH', `${base}/actions/paid_1`, unless(false))
    expect((await run({ row_ids: ids })).data.rows).toBe(2)
  })

  it('a row that runs out of credits behind skipped cells is resumed where it ended', async () => {
    bad = new Set(['b1', 'b2'])
    const { base, statuses } = await makeSheet(['1', '2'])
    expect(await statuses()).toEqual(['cf-', 'cf-'])
    bad = new Set()
    const started = await post(`${base}/run-all`, { from: 'failure', max_credits: 2 })
    expect((await statuses()).toSorted()).toEqual(['cco', 'co-'].toSorted())
    const path = `${base}/runs/${started.run}`
    await expect.poll(async () => (await org.call('GET', path)).body.data.state).toBe('finished')
    asked = []
    expect((await post(`${path}/resume`, { max_credits: null, dry_run: true })).data.rows).toBe(2)
    expect((await post(`${path}/resume`, { max_credits: null })).data).toEqual({ rows_queued: 2 })
    expect(await statuses()).toEqual(['ccc', 'ccc'])
    expect(asked).toHaveLength(3)
    await expect
      .poll(async () => (await org.call('GET', path)).body.data)
      .toMatchObject({ state: 'finished', credits: 8, rows_done: 2, cells_done: 4, rows_out_of_credits: 0 })
  })
})

describe('H10: Run Action takes `only`', () => {
  it('it runs the rows whose cell of the action is empty, or failed, or both', async () => {
    bad = new Set(['a2', 'b3'])
    const { base, statuses } = await makeSheet(['1', '2', '3', '4'])
    await statuses()
    await post(`${base}/rows`, { rows: [{ x: '5' }] })
    const rowsOf = async (only: string, action = 'paid_2') => {
      const estimate = await post(`${base}/estimate`, { action_instance_id: action, only })
      const dry = await post(`${base}/actions/${action}/run`, { only, dry_run: true })
      expect(dry.data.rows).toBe(estimate.data.rows)
      return estimate.data.rows
    }
    // Row 2 never came to the second action.
    expect(await Promise.all(['empty', 'failed', 'empty_and_failed'].map((only) => rowsOf(only)))).toEqual([
      2, 1, 3,
    ])
    expect(await rowsOf('failed', 'paid_1')).toBe(1)
    const filters = [{ variable: '{{input.x}}', operator: 'is equal to', values: ['3'] }]
    for (const [only, count] of [
      ['empty_and_failed', 1],
      ['empty', 0],
    ] as const) {
      const narrowed = await post(`${base}/actions/paid_2/run`, { only, filters, dry_run: true })
      const estimate = await post(`${base}/estimate`, { only, filters, action_instance_id: 'paid_2' })
      expect([narrowed.data.rows, estimate.data.rows]).toEqual([count, count])
    }
    bad = new Set()
    asked = []
    expect((await post(`${base}/actions/paid_1/run`, { only: 'empty_and_failed' })).data).toEqual({
      rows_queued: 2,
    })
    expect(await statuses()).toEqual(['ccc', 'c--', 'cf-', 'ccc', 'c--'])
    expect(asked.toSorted()).toEqual(['a2', 'a5'])
    for (const [path, body, field] of [
      ['actions/paid_1/run', { only: 'unfinished' }, 'only'],
      ['estimate', { only: 'empty' }, 'only'],
      ['run-all', { only: 'empty' }, 'only'],
    ] as const) {
      const refused = await post(`${base}/${path}`, body)
      expect([refused.status, refused.errors[0].field], path).toEqual([400, field])
    }
  })
})
