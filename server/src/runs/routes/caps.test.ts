import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { done, failed } from '#server/catalog/outcome.ts'
import { loadCatalogue } from '#server/catalog/registry.ts'
import { serveDouble } from '#server/catalog/testing/provider-double.ts'
import { newId } from '#server/lib/ids.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { startDueRuns } from '#server/runs/scheduler.ts'
import { setSchedule } from '#server/runs/schedules.ts'
import { switchWebhookOn } from '#server/runs/webhooks/webhooks.ts'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { makePaidSheet, PAID, paidAction } from '#test/builders/paid-action.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'

const opened = Promise.withResolvers<void>()
let waiting = 0

/** An action that costs two credits. `wait` is answered when the test lets it, `bad` fails. */
const paid = paidAction(async (text) => {
  if (text === 'wait') {
    waiting += 1
    await opened.promise
  }
  return text === 'bad' ? failed('it was bad') : done({ value: text })
})

const catalogue = catalogueOf(paid, ...(await loadCatalogue()).list())
const app = await makeApp({ services: { catalogue } })
const org = await app.makeOrg()
await startTestWorker(app)

const makeSheet = (steps = [PAID], parent?: string) =>
  makePaidSheet(org, { steps, ...(parent === undefined ? {} : { parent }) })

const rowsOf = (...xs: string[]) => xs.map((x) => ({ x }))
const runOf = async (base: string, id: unknown): Promise<Json> =>
  (await org.call('GET', `${base}/runs/${String(id)}`)).body.data
const statuses = async (base: string, action = 'paid_1'): Promise<string[]> =>
  (await settledRows(org, base)).map((row: Json) => row.cells[action]?.status)

const isOf = (id: string) => (data: Json) => data.budget_id === id
const isFinished = ({ state }: Json) => state === 'finished'

describe('M5: max_credits', () => {
  it('M6: cells run as far as the cap reaches; the rest is out_of_credits, says why, and is not charged', async () => {
    const base = await makeSheet()
    await org.call('POST', `${base}/rows`, { rows: rowsOf('a', 'b', 'bad', 'd', 'e') })
    const started = await org.call('POST', `${base}/run-all`, { max_credits: 5 })
    expect([started.status, started.body.data]).toEqual([200, { rows_queued: 5 }])
    const all = await statuses(base)
    expect(all.filter((status) => status === 'complete')).toHaveLength(2)
    const stopped = all.filter((status) => status === 'out_of_credits').length
    // A failure costs nothing, whenever its turn comes.
    expect(stopped + all.filter((status) => status === 'failed').length).toBe(3)
    const id = started.headers['x-run-id']
    await expect.poll(async () => (await runOf(base, id)).state).toBe('finished')
    const run = await runOf(base, id)
    expect(run).toMatchObject({ max_credits: 5, credits: 4, rows_out_of_credits: stopped, price_version: 1 })
    expect(run.stopped_by).toEqual({ kind: 'max_credits' })
    expect((await org.call('GET', `${base}/runs`)).body.data[0]).toEqual(run)
    const rows = (await org.call('POST', `${base}/rows/list`, {})).body.data.rows
    const cell = rows.find((row: Json) => row.cells.paid_1.status === 'out_of_credits').cells.paid_1
    expect(cell.error).toMatch(/may cost 2 credits, and 1 is left of max_credits\. .*\/resume/)
  })

  it('M7: resume goes on at that cell under the new total; complete cells are not billed again', async () => {
    const base = await makeSheet([PAID, { ...PAID, inputs: { text: '{{paid_1.value}}' } }])
    await org.call('POST', `${base}/rows`, { rows: rowsOf('a', 'b', 'c') })
    const started = await org.call('POST', `${base}/run-all`, { max_credits: 0 })
    expect(await statuses(base)).toEqual(['out_of_credits', 'out_of_credits', 'out_of_credits'])
    const id = String(started.headers['x-run-id'])
    const resume = (body: object, base_ = base) => org.call('POST', `${base_}/runs/${id}/resume`, body)
    expect((await resume({ max_credits: 5.0005 })).status).toBe(400)
    expect((await resume({ max_credit: 5 })).body.errors[0].field).toBe('max_credit')
    const resumed = await resume({ max_credits: 6 })
    expect([resumed.status, resumed.body.data, resumed.headers['x-run-id']]).toEqual([
      200,
      { rows_queued: 3 },
      id,
    ])
    await statuses(base)
    await expect.poll(async () => (await runOf(base, id)).state).toBe('finished')
    // What its worker reserved and did not need is given back a moment later.
    await expect.poll(() => runOf(base, id)).toMatchObject({ credits: 6, max_credits: 6, credits_held: 0 })
    expect((await runOf(base, id)).rows_out_of_credits).toBeGreaterThan(0)
    expect((await resume({ max_credits: 5 })).body.errors[0]).toEqual({
      field: 'max_credits',
      message: 'must be at least 6, which were spent already',
    })
    await resume({ max_credits: null })
    expect(await statuses(base, 'paid_2')).toEqual(['complete', 'complete', 'complete'])
    await expect.poll(async () => (await runOf(base, id)).state).toBe('finished')
    expect(await runOf(base, id)).toMatchObject({
      credits: 12,
      max_credits: null,
      rows_out_of_credits: 0,
      stopped_by: null,
      cells_done: 6,
      cells_failed: 0,
      rows_done: 3,
    })
    expect((await resume({})).body.data).toEqual({ rows_queued: 0 })
    expect((await org.call('POST', `${base}/runs/${newId()}/resume`, {})).status).toBe(404)
    const elsewhere = await makeSheet()
    expect((await resume({}, elsewhere)).status).toBe(404)
    expect((await org.call('GET', `${elsewhere}/runs/${id}`)).status).toBe(404)
  })

  it('M6: cells wait, queued, for credits that others hold; a miss fails no other cell', async () => {
    const base = await makeSheet()
    await org.call('POST', `${base}/rows`, { rows: rowsOf('wait', 'wait', 'wait') })
    const started = await org.call('POST', `${base}/run-all`, { max_credits: 3 })
    await expect.poll(() => waiting).toBe(1)
    const listed = async () =>
      (await org.call('POST', `${base}/rows/list`, {})).body.data.rows.map(
        (row: Json) => row.cells.paid_1?.status,
      )
    await expect.poll(listed).toSatisfy((all: string[]) => all.includes('queued'))
    await expect.poll(async () => (await runOf(base, started.headers['x-run-id'])).credits_held).toBe(2)
    expect(await listed()).not.toContain('out_of_credits')
    opened.resolve()
    const all = await statuses(base)
    expect(all.filter((status) => status === 'complete')).toHaveLength(1)
    expect(all.filter((status) => status === 'out_of_credits')).toHaveLength(2)
    await expect.poll(async () => (await org.call('GET', '/credits')).body.data.held).toBe(0)
  })

  it('M6: rows that are sent on draw on the same cap', async () => {
    const parent = await makeSheet([PAID])
    const child = await makeSheet([PAID], parent.slice(-36))
    const send = { target_sheet_id: child.slice(-36), field_mapping: [{ name: 'x', value: '{{input.x}}' }] }
    expect(
      (await org.call('POST', `${parent}/actions/add`, { action_id: 'send_to_sheet', inputs: send })).status,
    ).toBe(201)
    await org.call('POST', `${parent}/rows`, { rows: rowsOf('a', 'b'), run_after_add: 'all', max_credits: 5 })
    await statuses(parent)
    await expect.poll(async () => (await settledRows(org, child)).length).toBeGreaterThanOrEqual(1)
    const spent = [...(await statuses(parent)), ...(await statuses(child))].filter(
      (status) => status === 'complete',
    )
    expect(spent).toHaveLength(2)
    const [run] = (await org.call('GET', `${child}/runs`)).body.data
    expect(run).toMatchObject({ trigger: 'send_to_sheet', max_credits: 5 })
    expect(run.key_id).not.toBeNull()
  })

  it('M16: a schedule caps each tick, a webhook the rows of a day', async () => {
    const base = await makeSheet()
    const sheet = { org_id: org.orgId, sheet_id: base.slice(-36) }
    await org.call('POST', `${base}/rows`, { rows: rowsOf('a', 'b', 'c') })
    const { store, services } = app
    const yearly = { cron: '0 0 1 1 *' }
    await setSchedule(store.system, OPERATOR, sheet, { ...yearly, maxCreditsMillis: 4000 })
    // A cap that is not mentioned stays.
    await setSchedule(store.system, OPERATOR, sheet, yearly)
    for (const ticks of [1, 2]) {
      await sql`update schedules set next_run_at = now() where sheet_id = ${sheet.sheet_id}`.execute(
        store.system,
      )
      await startDueRuns({ ...services, store })
      await expect
        .poll(async () => (await org.call('GET', `${base}/runs`)).body.data.filter(isFinished).length)
        .toBe(ticks)
    }
    const ticked: Json[] = (await org.call('GET', `${base}/runs`)).body.data
    expect(ticked.map(({ trigger, max_credits, credits }) => [trigger, max_credits, credits])).toEqual([
      ['schedule', 4, 4],
      ['schedule', 4, 4],
    ])
    await org.call('PATCH', base, { auto_run: true })
    const token = await switchWebhookOn(store.system, OPERATOR, services.sealer, { sheet, capMillis: 4000 })
    const deliver = (x: string) =>
      app.api.inject({ method: 'POST', url: `/hooks/${token}`, payload: { x }, headers: {} })
    for (const x of ['d', 'e', 'f']) expect((await deliver(x)).statusCode).toBe(200)
    await expect
      .poll(async () => (await org.call('GET', `${base}/runs`)).body.data.filter(isFinished).length)
      .toBe(5)
    const delivered: Json[] = (await org.call('GET', `${base}/runs`)).body.data.slice(0, 3)
    expect(delivered.map(({ trigger, max_credits }) => `${trigger} ${max_credits}`)).toEqual(
      Array.from({ length: 3 }, () => 'webhook 4'),
    )
    expect(delivered.reduce((sum, { credits }) => sum + credits, 0)).toBe(4)
    const stopped = delivered.filter(({ stopped_by }) => stopped_by?.kind === 'max_credits')
    expect(stopped).toHaveLength(1)
    // The cell's own error is the more useful one.
    const errorOf = async (): Promise<string | undefined> =>
      (await settledRows(org, base))
        .slice(3)
        .map(({ cells }): string | undefined => cells['paid_1']?.['error'])
        .find(Boolean)
    const path = `${base}/runs/${stopped[0]?.['run_id']}/resume`
    await expect
      .poll(errorOf)
      .toMatch(
        /left of max_credits_per_day of the webhook\. Raise it, then resume the run without max_credits: POST/,
      )
    expect(await errorOf()).toContain(path)
    await switchWebhookOn(store.system, OPERATOR, services.sealer, { sheet, capMillis: 6000 })
    expect((await org.call('POST', path, {})).body.data).toEqual({ rows_queued: 1 })
    await expect.poll(errorOf).toBe(undefined)
  })

  it('is checked by every endpoint that starts a run, and a misspelt one is a 400', async () => {
    const base = await makeSheet()
    const [id] = (await org.call('POST', `${base}/rows`, { rows: rowsOf('a') })).body.data.row_ids
    const bodies: [string, object][] = [
      [`${base}/run`, { row_ids: [id] }],
      [`${base}/run-all`, {}],
      [`${base}/actions/paid_1/run`, {}],
      [`${base}/rows`, { rows: rowsOf('b') }],
      [`${base}/csv`, { file_ref: newId(), mapping: { x: 'x' } }],
      ['/agent/run', { prompt: 'x' }],
    ]
    for (const [path, body] of bodies) {
      for (const [name, value] of [
        ['max_credits', -1],
        ['max_credits', 0.0001],
        ['max_credits', '5'],
        ['maxCredits', 5],
        ['spend_limit', 5],
        ['dryrun', true],
      ] as const) {
        const answer = await org.call('POST', path, { ...body, [name]: value })
        expect([path, name, answer.status]).toEqual([path, name, 400])
        expect(JSON.stringify(answer.body)).toContain(name)
      }
    }
    expect((await org.call('GET', `${base}/runs`)).body.data).toEqual([])
  })

  it('a budget stops what it counts, by its name', async () => {
    const base = await makeSheet()
    await app.store.system
      .insertInto('budgets')
      .values({
        org_id: org.orgId,
        budget_id: newId(),
        name: 'Trials',
        scope: 'sheet',
        subject: base.slice(-36),
        trigger: null,
        period: 'day',
        limit_millis: 3000,
        mode: 'stop',
      })
      .execute()
    const added = await org.call('POST', `${base}/rows`, { rows: rowsOf('a', 'b'), run_after_add: 'all' })
    const all = await statuses(base)
    expect(all.toSorted()).toEqual(['complete', 'out_of_credits'])
    const run = await runOf(base, added.headers['x-run-id'])
    expect(run.stopped_by).toMatchObject({ kind: 'budget', budget_id: expect.any(String) })
    const rows = (await org.call('POST', `${base}/rows/list`, {})).body.data.rows
    const errors = rows.flatMap((row: Json) => row.cells.paid_1.error ?? [])
    expect(errors[0]).toContain('1 is left of the budget "Trials"')
  })

  it('M10: alerts for thresholds are sent while cells are spending, for 100 at the first refusal', async () => {
    const base = await makeSheet()
    const hook = await serveDouble(() => ({ status: 200 }))
    const { budget_id } = (
      await org.call('POST', '/credits/budgets', {
        scope: 'sheet',
        subject: base.slice(-36),
        period: 'total',
        limit: 5,
        emails: [],
        webhook_url: `${hook.origin}/alerts`,
      })
    ).body.data
    const told = () => hook.seen.map(({ body }) => JSON.parse(body).data).filter(isOf(budget_id))
    await org.call('POST', `${base}/rows`, { rows: rowsOf('a', 'b'), run_after_add: 'all' })
    await expect
      .poll(() =>
        told()
          .map(({ threshold }) => threshold)
          .toSorted((one, other) => one - other),
      )
      .toEqual([50, 80])
    await org.call('POST', `${base}/rows`, { rows: rowsOf('c'), run_after_add: 'all' })
    // Nothing more is spent: 1 credit is left, and a cell costs 2.
    await expect
      .poll(() =>
        told()
          .map(({ threshold }) => threshold)
          .includes(100),
      )
      .toBe(true)
    expect(told().at(-1)).toMatchObject({ threshold: 100, limit: 5, spent: 4, mode: 'stop' })
    const { alerts } = (await org.call('GET', `/credits/budgets/${budget_id}`)).body.data
    expect(new Set(alerts.map(({ threshold }: Json) => threshold))).toEqual(new Set([50, 80, 100]))
  })

  it('M10: an alert says what was spent, also before it is folded, and thresholds come in their order', async () => {
    const base = await makeSheet()
    const hook = await serveDouble(() => ({ status: 200 }))
    await org.call('POST', '/credits/budgets', {
      scope: 'sheet',
      subject: base.slice(-36),
      period: 'total',
      limit: 4,
      emails: [],
      webhook_url: `${hook.origin}/alerts`,
    })
    await org.call('POST', `${base}/rows`, { rows: rowsOf('a', 'b', 'c', 'd'), run_after_add: 'all' })
    await expect.poll(() => hook.seen.length).toBe(3)
    const told: Json[] = hook.seen.map(({ body }) => JSON.parse(body).data)
    expect(told.map(({ threshold }) => threshold)).toEqual([50, 80, 100])
    expect(told.every(({ threshold, spent }) => spent >= (4 * threshold) / 100)).toBe(true)
    expect(told.at(-1)).toMatchObject({ limit: 4, spent: 4 })
  })
})
