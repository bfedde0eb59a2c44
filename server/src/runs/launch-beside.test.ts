import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { inTransaction } from '#server/database/connection/db.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import {
  type FlightSheet,
  makeFlightApp,
  makeFlightSheet,
} from '#server/runs/engine/testing/flight-store-fixture.ts'
import { makeEngine } from '#server/runs/engine/testing/test-engine.ts'
import { walkRow } from '#server/runs/engine/walk.ts'
import { dropFlights } from '#server/runs/store/flights.ts'
import { launchJob, launchRest } from './launch-pieces.ts'
import { startRun } from './queue.ts'
import type { RowChoice } from './row-choice.ts'
import type { RunRequest } from './run-request.ts'

const app = await makeFlightApp()
const engine = makeEngine(app)
const ROWS = 30
const FIRST = 10
const PRICE = 1.5

let sheet: FlightSheet
let rowIds: string[]

beforeEach(async () => {
  sheet = await makeFlightSheet(app, ['free', 'paid'], 1_000_000)
  rowIds = await sheet.addRows(ROWS)
})

/** `before` is awaited before the run is committed. */
type Options = Partial<Pick<RunRequest, 'cap'>> & { first?: number; before?: () => Promise<unknown> }

const start = async (
  rows: RowChoice = { kind: 'all' },
  { cap, first = FIRST, before }: Options = {},
  on: FlightSheet = sheet,
) => {
  const request = { sheet: await on.record(), actions: ['paid_1'], rows, trigger: 'schedule' as const }
  return inTransaction(app.store.org(on.org.orgId), async (trx) => {
    const run = { ...request, ...(cap === undefined ? {} : { cap }) }
    const started = await startRun(trx, OPERATOR, run, first)
    await before?.()
    return started
  })
}
const rest = async (run_id: string) => {
  const { org_id, sheet_id } = await sheet.record()
  await launchRest(app.store.org(org_id), { org_id, sheet_id, run_id })
}
const walk = async (ids: readonly string[] = rowIds) => {
  for (const job of await sheet.jobs()) if (ids.includes(job.r)) await walkRow(engine, job, {})
}
const resume = (runId: string, body: object) =>
  sheet.org.call('POST', `${sheet.base}/runs/${runId}/resume`, body)
type Listed = { run_id: string; state: string; rows_queued: number; credits: number }
const runOf = async ({ runId }: { runId: string }) => {
  const { body } = await sheet.org.call('GET', `${sheet.base}/runs`)
  return (body.data as Listed[]).find(({ run_id }) => run_id === runId)
}

describe('beside a run that is still being enqueued', () => {
  it('D21: rows in flight when it began that finished before their piece are not run again', async () => {
    const last = rowIds.slice(-3)
    const earlier = await start({ kind: 'ids', ids: last })
    const all = await start()
    await walk(last)
    await rest(all.runId)
    await walk()
    expect(await runOf(earlier)).toMatchObject({ rows_queued: 3, credits: 3 * PRICE })
    expect(await runOf(all)).toMatchObject({ rows_queued: ROWS - 3, credits: (ROWS - 3) * PRICE })
  })

  it('M7: a resumed run leaves out the rows that are still to be enqueued', async () => {
    const last = rowIds.slice(-3)
    const capped = await start({ kind: 'ids', ids: last }, { cap: { limitMillis: 0 } })
    await walk(last)
    const all = await start()
    expect((await resume(capped.runId, { max_credits: 100 })).body.data).toEqual({ rows_queued: 0 })
    await rest(all.runId)
    await walk()
    expect(await runOf(all)).toMatchObject({ rows_queued: ROWS, credits: ROWS * PRICE })
  })

  it('D23: Stop counts no rows that were deleted', async () => {
    await start()
    await sheet.org.call('POST', `${sheet.base}/rows/delete-all`)
    expect(await sheet.stop()).toBe(0)
  })

  it('D23: Stop takes no flights of a run that it does not stop', async () => {
    const first = await start()
    const fresh = await sheet.addRows(3)
    let stopped: Promise<number> | undefined
    const second = await start(
      { kind: 'ids', ids: fresh },
      {
        before: async () => {
          stopped = sheet.stop()
          await sleep(200)
        },
      },
    )
    await stopped
    expect((await runOf(first))?.state).toBe('stopped')
    const flights = (await sheet.flights()).length
    expect([(await runOf(second))?.state, flights]).toEqual(flights === 0 ? ['stopped', 0] : ['running', 3])
  })
})

describe('D21, D78: X-Run-Id is the run to wait for', () => {
  const runIdOf = async (path: string, body?: object): Promise<unknown> =>
    (await sheet.org.call('POST', `${sheet.base}/${path}`, body)).headers['x-run-id']

  it('the one that the rows joined, if all were in flight', async () => {
    const first = await runIdOf('run', { row_ids: rowIds.slice(0, 3) })
    expect(await runIdOf('run', { row_ids: rowIds.slice(1, 3) })).toBe(first)
    const second = await runIdOf('run-all')
    expect(second).not.toBe(first)
    expect(await runIdOf('run', { row_ids: rowIds.slice(5, 6) })).toBe(second)
  })

  it('the one that is still to enqueue them', async () => {
    const { runId } = await start()
    expect(await runIdOf('run', { row_ids: rowIds.slice(-2) })).toBe(runId)
  })
})

it('runs whose process ended are enqueued in turn: a small one does not wait for a large one', async () => {
  const large = sheet
  for (let n = 0; n < 8; n += 1) await large.addRows(1000)
  await start({ kind: 'all' }, {}, large)
  const small = await makeFlightSheet(app, ['free', 'paid'], 0)
  await small.addRows(ROWS)
  await start({ kind: 'all' }, {}, small)
  await app.store.query({
    text: `update runs set unlaunched = unlaunched || '{"at": "2020-01-01"}' where org_id = any($1) and unlaunched is not null`,
    values: [[large.org.orgId, small.org.orgId]],
  })
  const whole = (one: FlightSheet) => async () => {
    const text = 'select unlaunched is null as whole from runs where org_id = $1 order by run_id desc limit 1'
    return (await app.store.query<{ whole: boolean }>({ text, values: [one.org.orgId] }))[0]?.whole
  }
  const done = launchJob(app.store).run(undefined, new AbortController().signal)
  await expect.poll(whole(small)).toBe(true)
  expect(await whole(large)()).toBe(false)
  await done
  expect(await whole(large)()).toBe(true)
})

describe('resuming', () => {
  it('409: a stopped run goes on only when the cells that were running have finished', async () => {
    const run = await start({ kind: 'ids', ids: rowIds.slice(0, 2) }, { cap: { limitMillis: 0 } })
    await walk(rowIds.slice(0, 1))
    await app.store.query({
      text: `update flights set status = 'running' where org_id = $1 and row_id = $2`,
      values: [sheet.org.orgId, rowIds[1]],
    })
    await sheet.stop()
    const refused = await resume(run.runId, { max_credits: 100 })
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining('still running')])
    await dropFlights(app.store.org(sheet.org.orgId), sheet.org.orgId, {
      sheetIds: [(await sheet.record()).sheet_id],
    })
    expect((await resume(run.runId, { max_credits: 100 })).body.data).toEqual({ rows_queued: 1 })
  })

  it.each([6, null])(
    '409: max_credits %s does not change a cap that other runs share',
    async (max_credits) => {
      const cap = { subject: `webhook ${String(max_credits)}`, limitMillis: 0, each: 'day' as const }
      const run = await start({ kind: 'ids', ids: rowIds.slice(0, 1) }, { cap })
      await walk(rowIds.slice(0, 1))
      const { status, body } = await resume(run.runId, { max_credits })
      expect([status, body.message]).toEqual([409, expect.stringContaining('shared')])
      expect((await resume(run.runId, {})).status).toBe(200)
    },
  )
})

it('flights of many rows are dropped in stretches, and only those of the sheet', async () => {
  const other = await makeFlightSheet(app, ['free', 'paid'], 0)
  await other.addRows(3)
  await start({ kind: 'all' }, {}, other)
  await start({ kind: 'all' }, { first: ROWS })
  const { org_id, sheet_id } = await sheet.record()
  expect(await dropFlights(app.store.org(org_id), org_id, { sheetIds: [sheet_id] }, 7)).toBe(ROWS)
  expect([(await sheet.flights()).length, (await other.flights()).length]).toEqual([0, 3])
})
