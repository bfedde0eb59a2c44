import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { inTransaction } from '#server/database/connection/db.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import {
  type FlightSheet,
  makeFlightApp,
  makeFlightSheet,
} from '#server/runs/engine/testing/flight-store-fixture.ts'
import { FIRST_PIECE, launchJob, launchRest } from './launch-pieces.ts'
import { startRun } from './queue.ts'
import type { RowChoice } from './row-choice.ts'

const app = await makeFlightApp()
const ROWS = 30
const FIRST = 10

type StoredRun = { run_id: string; state: string; rows_queued: number; unlaunched: object | null }
let sheet: FlightSheet
let rowIds: string[]

beforeEach(async () => {
  sheet = await makeFlightSheet(app, ['pure', 'free'], 0)
  rowIds = await sheet.addRows(ROWS)
})

const start = async (rows: RowChoice = { kind: 'all' }, first = FIRST, then?: () => Promise<void>) => {
  const record = await sheet.record()
  const request = { sheet: record, actions: ['pure_1', 'free_1'], rows, trigger: 'schedule' as const }
  return inTransaction(app.store.org(sheet.org.orgId), async (trx) => {
    const started = await startRun(trx, OPERATOR, request, first)
    await then?.()
    return started
  })
}
const rest = async (run_id: string) => {
  const { org_id, sheet_id } = await sheet.record()
  await launchRest(app.store.org(org_id), { org_id, sheet_id, run_id })
}
const runs = () =>
  app.store.query<StoredRun>({
    text: 'select run_id, state, rows_queued, unlaunched from runs where org_id = $1 order by run_id',
    values: [sheet.org.orgId],
  })
/** Deletes flights, as if their cells had been settled. */
const land = (ids: string[]) =>
  app.store.query({
    text: 'delete from flights where org_id = $1 and row_id = any($2)',
    values: [sheet.org.orgId, ids],
  })
const flying = async () => (await sheet.flights()).map(({ row_id }) => row_id)
/** Lists the rows that jobs name. A row that several jobs name appears several times. */
const queued = async () => {
  const jobs = await app.store.query<{ r: string | string[] }>({
    text: `select payload->'r' as r from graphile_worker._private_jobs where payload->>'o' = $1
      union all select payload->'r' from graphile_groups._private_jobs where payload->>'o' = $1`,
    values: [sheet.org.orgId],
  })
  return jobs.flatMap(({ r }) => r).toSorted()
}

describe('a run of all rows of a large sheet', () => {
  it('has its first rows in flight at once, the others piece by piece, and each once', async () => {
    const { runId, rowsQueued, isLaunched } = await start()
    expect([rowsQueued, isLaunched]).toEqual([ROWS, false])
    expect(await flying()).toEqual(rowIds.slice(0, FIRST))
    expect(await runs()).toEqual([
      { run_id: runId, state: 'running', rows_queued: ROWS, unlaunched: expect.any(Object) },
    ])
    await rest(runId)
    expect(await flying()).toEqual(rowIds.toSorted())
    expect(await queued()).toEqual(rowIds.toSorted())
    expect(await runs()).toEqual([{ run_id: runId, state: 'running', rows_queued: ROWS, unlaunched: null }])
  })

  it('is enqueued as a whole if it is small', async () => {
    expect(await start({ kind: 'all' }, ROWS)).toMatchObject({ rowsQueued: ROWS, isLaunched: true })
    expect(await flying()).toHaveLength(ROWS)
  })

  it.each<[string, (ids: string[]) => RowChoice]>([
    ['of all', () => ({ kind: 'all' })],
    ['of some of the others', (ids) => ({ kind: 'ids', ids: ids.slice(-3) })],
    ['of those that are not finished', () => ({ kind: 'unfinished', actions: ['pure_1', 'free_1'] })],
  ])('D21: another one %s joins it, waits for no row of it, and starts none twice', async (_, choose) => {
    const first = await start()
    const second = await start(choose(rowIds))
    expect(await flying()).toEqual(rowIds.slice(0, FIRST))
    await rest(second.runId)
    expect(await flying()).toEqual(rowIds.slice(0, FIRST))
    await rest(first.runId)
    const flights = await sheet.flights()
    expect(new Set(flights.map(({ run_id }) => run_id))).toEqual(new Set([first.runId]))
    expect(flights).toHaveLength(ROWS)
    expect(await queued()).toEqual(rowIds.toSorted())
    const counts = (await runs()).map(({ state, rows_queued }) => ({ state, rows_queued }))
    expect(counts).toEqual([
      { state: 'running', rows_queued: ROWS },
      { state: 'finished', rows_queued: 0 },
    ])
  })

  it('D21: another run gets finished and later rows, but not those still to be enqueued', async () => {
    const first = await start()
    await land(rowIds.slice(2, 5))
    const later = await sheet.addRows(7)
    const second = await start()
    expect(second).toMatchObject({ rowsQueued: ROWS + 7, isLaunched: false })
    const third = await start({ kind: 'ids', ids: [...rowIds.slice(FIRST - 1, FIRST + 2), ...later] })
    expect(third).toMatchObject({ rowsQueued: 10, isLaunched: true })
    await land(rowIds.slice(2, 3))
    await rest(second.runId)
    await rest(first.runId)
    const flights = await sheet.flights()
    const rowsOf = ({ runId }: { runId: string }) =>
      flights.filter(({ run_id }) => run_id === runId).map(({ row_id }) => row_id)
    expect(rowsOf(first)).toEqual([...rowIds.slice(0, 2), ...rowIds.slice(5)])
    expect(rowsOf(second)).toEqual([...rowIds.slice(3, 5), ...later])
    expect(rowsOf(third)).toEqual([])
    expect(await runs()).toMatchObject([
      { rows_queued: ROWS, unlaunched: null },
      { rows_queued: 10, unlaunched: null },
      { state: 'finished', rows_queued: 0, unlaunched: null },
    ])
  })

  it('D21: another run gets none of the remaining rows after the first were deleted', async () => {
    const first = await start()
    await sheet.org.call('POST', `${sheet.base}/rows/delete`, { row_ids: rowIds.slice(0, FIRST) })
    const second = await start({ kind: 'all' }, 1)
    await rest(second.runId)
    expect(await flying()).toEqual([])
    await rest(first.runId)
    expect(await flying()).toEqual(rowIds.slice(FIRST))
    expect((await runs()).map(({ rows_queued }) => rows_queued)).toEqual([ROWS, 0])
  })

  it('D23: if two runs are stopped together, each row that was not enqueued is counted once', async () => {
    await start()
    await start()
    expect(await sheet.stop()).toBe(ROWS)
  })

  it('D21: a run that begins before it is committed waits for it, and joins it', async () => {
    let second: ReturnType<typeof start> | undefined
    const first = await start({ kind: 'all' }, FIRST, async () => {
      second = start({ kind: 'ids', ids: rowIds.slice(-3) })
      await sleep(100)
    })
    expect(await second).toMatchObject({ rowsQueued: 3 })
    await rest(first.runId)
    expect(new Set((await sheet.flights()).map(({ run_id }) => run_id))).toEqual(new Set([first.runId]))
  })

  it('D21: of several runs at the same moment, each row belongs to one', async () => {
    const started = await Promise.all(Array.from({ length: 4 }, () => start()))
    await Promise.all(started.map(({ runId }) => rest(runId)))
    expect(await flying()).toEqual(rowIds.toSorted())
    expect(await queued()).toEqual(rowIds.toSorted())
    const stored = await runs()
    expect(stored.map(({ rows_queued }) => rows_queued).toSorted((a, b) => a - b)).toEqual([0, 0, 0, ROWS])
    expect(stored.every(({ unlaunched }) => unlaunched === null)).toBe(true)
  })

  it('D23: after a stop it enqueues no more, and its remaining rows count as stopped', async () => {
    const { runId } = await start()
    expect(await sheet.stop()).toBe(ROWS)
    await rest(runId)
    expect(await flying()).toEqual([])
    expect(await runs()).toMatchObject([{ state: 'stopped', unlaunched: null }])
    // A run that comes after it is enqueued as ever.
    expect(await start()).toMatchObject({ rowsQueued: ROWS })
  })

  it('leaves out later rows, and deleted ones', async () => {
    const { runId } = await start()
    await sheet.addRows(5)
    await sheet.org.call('POST', `${sheet.base}/rows/delete`, { row_ids: rowIds.slice(-4) })
    await rest(runId)
    expect(await flying()).toEqual(rowIds.slice(0, -4))
    expect(await runs()).toMatchObject([{ rows_queued: ROWS - 4, unlaunched: null }])
  })

  it('D21: leaves out a row that is in flight after all', async () => {
    const { runId } = await start()
    const other = (await start({ kind: 'ids', ids: [] })).runId
    await app.store.query({
      text: `insert into flights (org_id, sheet_id, row_id, run_id, status)
        select org_id, sheet_id, row_id, $2, 'queued' from rows where org_id = $1 and row_id = $3`,
      values: [sheet.org.orgId, other, rowIds.at(-2)],
    })
    await rest(runId)
    const flights = await sheet.flights()
    expect(flights.filter(({ run_id }) => run_id === runId)).toHaveLength(ROWS - 1)
    expect(flights).toHaveLength(ROWS)
    expect(await runs()).toMatchObject([{ rows_queued: ROWS - 1, unlaunched: null }, {}])
  })

  it('finishes if all rows are deleted', async () => {
    const { runId } = await start()
    await sheet.org.call('POST', `${sheet.base}/rows/delete-all`)
    await sheet.addRows(5)
    await rest(runId)
    expect(await flying()).toEqual([])
    expect(await runs()).toMatchObject([{ unlaunched: null }])
  })

  it('is continued by any worker if its process ended, after some seconds', async () => {
    const { runId } = await start()
    const go = () => launchJob(app.store).run(undefined, new AbortController().signal)
    await go()
    expect(await flying()).toHaveLength(FIRST)
    await app.store.query({
      text: `update runs set unlaunched = unlaunched || '{"at": "2020-01-01"}' where org_id = $1 and run_id = $2`,
      values: [sheet.org.orgId, runId],
    })
    await go()
    expect(await flying()).toEqual(rowIds.toSorted())
  })
})

describe('Run All Rows', () => {
  const MANY = FIRST_PIECE + 4000

  it.each([
    ['in several transactions', {}],
    ['in one, with an Idempotency-Key', { 'idempotency-key': 'all of them' }],
  ])('answers when every row is in flight, %s', async (_, headers) => {
    for (let n = ROWS; n < MANY; n += 1000) await sheet.addRows(Math.min(1000, MANY - n))
    const { body } = await sheet.org.call('POST', `${sheet.base}/run-all`, undefined, headers)
    expect(body.data).toEqual({ rows_queued: MANY })
    const jobs = await queued()
    expect([(await flying()).length, jobs.length, new Set(jobs).size]).toEqual([MANY, MANY, MANY])
    expect(await runs()).toMatchObject([{ rows_queued: MANY, unlaunched: null }])
  })
})
