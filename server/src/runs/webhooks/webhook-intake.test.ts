import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { switchWebhookOn } from '#server/runs/webhooks/webhooks.ts'
import { rowsOf } from '#test/builders/rows.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { SMALL_DELIVERY, webhookSweep } from './webhook-intake.ts'

const app = await makeApp()
const org = await app.makeOrg()
const { makeSheet, list } = rowsOf(org)
const db = app.store.system

async function hooked(): Promise<{ base: string; send: (body: unknown, id?: string) => Promise<number> }> {
  const base = await makeSheet()
  const sheet = { org_id: org.orgId, sheet_id: base.slice(-36) }
  const token = await switchWebhookOn(db, OPERATOR, app.services.sealer, { sheet })
  return {
    base,
    async send(body, id) {
      const headers = id === undefined ? {} : { 'webhook-id': id }
      return (
        await app.api.inject({ method: 'POST', url: `/hooks/${token}`, payload: body as object, headers })
      ).statusCode
    },
  }
}

const runsOf = async (base: string): Promise<Json[]> => (await org.call('GET', `${base}/runs`)).body.data

describe('D16: rows from webhooks run when auto_run is on', () => {
  it('and only then; the trigger is webhook and last_run_at stays (D45)', async () => {
    const work = await startTestWorker(app)
    const { base, send } = await hooked()
    const add = { action_id: 'normalize_domain', inputs: { value: '{{input.domain}}' } }
    expect((await org.call('POST', `${base}/actions/add`, add)).status).toBe(201)
    expect(await send({ domain: 'WWW.Acme.example' })).toBe(200)
    expect((await list(base)).rows).toMatchObject([{ row_status: 'pending', cells: {} }])
    expect(await runsOf(base)).toEqual([])

    await org.call('PATCH', base, { auto_run: true })
    await Promise.all(Array.from({ length: 40 }, (_, n) => send({ domain: `c${n}.example` }, `m${n % 20}`)))
    const rows = await settledRows(org, base)
    await work.stop()
    expect(rows.map((row) => row.row_status).toSorted()).toEqual([...Array(20).fill('complete'), 'pending'])
    const runs = await runsOf(base)
    expect(runs.map((run) => run.trigger)).toEqual(runs.map(() => 'webhook'))
    expect(runs.reduce((sum, run) => sum + run.rows_queued, 0)).toBe(20)
    expect((await org.call('GET', base.replace(/\/sheets.*/, ''))).body.data.last_run_at).toBeNull()
  })

  it('with auto_run and no action they are only added', async () => {
    const { base, send } = await hooked()
    await org.call('PATCH', base, { auto_run: true })
    expect(await send({ Company: 'A' })).toBe(200)
    expect(await runsOf(base)).toEqual([])
  })
})

describe('a transaction that many deliveries share', () => {
  it('leaves out a delivery that PostgreSQL refuses', async () => {
    await sql`alter table rows add constraint no_poison check (data->>'1' is distinct from 'poison')`.execute(
      db,
    )
    const { base, send } = await hooked()
    const statuses = await Promise.all(
      Array.from({ length: 50 }, (_, n) => send({ Company: n === 25 ? 'poison' : `c${n}` }, `m${n}`)),
    )
    await sql`alter table rows drop constraint no_poison`.execute(db)
    expect(statuses).toEqual(statuses.map((_, n) => (n === 25 ? 500 : 200)))
    expect((await list(base)).total_count).toBe(49)
    expect([await send({ Company: 'cured' }, 'm25'), (await list(base)).total_count]).toEqual([200, 50])
  })

  it('serves several sheets and answers 404 for a sheet deleted meanwhile', async () => {
    const [one, two, gone] = [await hooked(), await hooked(), await hooked()]
    const sent = [one, gone, two].flatMap(({ send }) =>
      Array.from({ length: 20 }, (_, n) => send({ Company: `c${n}` })),
    )
    const deleted = org.call('DELETE', gone.base.replace(/\/sheets.*/, ''))
    const statuses = await Promise.all(sent)
    expect((await deleted).status).toBe(200)
    expect(statuses.filter((status, n) => status !== 200 && !(status === 404 && n >= 20 && n < 40))).toEqual(
      [],
    )
    expect([(await list(one.base)).total_count, (await list(two.base)).total_count]).toEqual([20, 20])
  })

  it('takes a delivery of 1,000 large items', async () => {
    const { base, send } = await hooked()
    expect(await send(Array.from({ length: 1000 }, (_, n) => ({ Company: `${n} ${'x'.repeat(500)}` })))).toBe(
      200,
    )
    expect((await list(base)).total_count).toBe(1000)
  })
})

it('ids are stored for seven days', async () => {
  const { base, send } = await hooked()
  await send({ Company: 'A' }, 'old')
  await send({ Company: 'A' }, 'new')
  const age = (days: number) =>
    sql`update webhook_ids set created_at = now() - ${days} * interval '1 day' where sheet_id = ${base.slice(-36)}
      and answer->'row_ids'->>0 = (select row_id::text from rows where sheet_id = ${base.slice(-36)} order by seq limit 1)`.execute(
      db,
    )
  const sweep = () => webhookSweep(app.store).run({}, AbortSignal.timeout(10_000))
  await age(6.9)
  await sweep()
  await send({ Company: 'A' }, 'old')
  expect((await list(base)).total_count).toBe(2)
  await age(7.1)
  await sweep()
  await send({ Company: 'A' }, 'old')
  await send({ Company: 'A' }, 'new')
  expect((await list(base)).total_count).toBe(3)
})

it.each([
  ['small', 10],
  ['large', SMALL_DELIVERY + 1],
])(
  'R16: %s deliveries that wait for a lock of their sheet keep nobody else waiting',
  async (_size, length) => {
    const other = await app.makeOrg()
    const theirs = await hooked()
    const sheet = { org_id: other.orgId, sheet_id: (await rowsOf(other).makeSheet()).slice(-36) }
    const token = await switchWebhookOn(db, OPERATOR, app.services.sealer, { sheet })
    const row = { domain: 'x'.repeat(length) }
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    const { promise: locked, resolve: onLocked } = Promise.withResolvers<void>()
    const holding = db.transaction().execute(async (trx) => {
      await sql`select from sheet_counters where sheet_id = ${theirs.base.slice(-36)} for update`.execute(trx)
      onLocked()
      await released
    })
    onTestFinished(() => release())
    await locked
    const waiting = Array.from({ length: 8 }, () => theirs.send(row))
    const waits = async () => {
      const { rows } = await sql`select from pg_stat_activity where wait_event_type = 'Lock'`.execute(db)
      return rows.length
    }
    await expect.poll(waits).toBeGreaterThan(0)
    const sent = await app.api.inject({ method: 'POST', url: `/hooks/${token}`, payload: row })
    expect(sent.statusCode).toBe(200)
    release()
    await holding
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => 200))
  },
)
