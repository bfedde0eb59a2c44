import { describe, expect, it } from 'vitest'
import { inTransaction } from '#server/database/connection/db.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { stopRuns } from '#server/runs/queue.ts'
import { endParked } from '../../sweeps.ts'
import { PRICE } from '../testing/fault-catalogue.ts'
import {
  claimAndReserve,
  complete,
  type FlightSheet,
  makeFlightStore,
  type TestFlightStore,
  makeFlightApp,
  makeReservations,
  must,
  withPosition,
} from '../testing/flight-store-fixture.ts'
import { expectPaid, makePaidSheet } from '../testing/paid-sheets.ts'
import { makeEngine } from '../testing/test-engine.ts'
import { RowTakenOver } from '../walk-cells.ts'
import { walkRow } from '../walk.ts'
import type { Flight, RunFacts, SettledCell } from './flight.ts'
import { moveTo } from './position.ts'

const app = await makeFlightApp()
const old = makeFlightStore(app, 1)
const fresh = makeFlightStore(app, 2)
const engine = makeEngine(app)
const reservations = makeReservations(app)

describe('a worker that lost its lease changes nothing (R3)', () => {
  const late: [string, (store: TestFlightStore, flight: Flight) => Promise<unknown>, unknown][] = [
    ['settle', (store, flight) => store.settle(flight, complete(flight, 'paid_2', PRICE)), null],
    ['settle the end', (store, flight) => store.settle(flight, complete(flight, null, PRICE)), null],
    ['park', (store, flight) => store.park(flight, { ms: 0, retries: 1 }), false],
    ['abandon', (store, flight) => store.abandon(flight), false],
  ]
  it.each(late)('%s', async (_name, act, answer) => {
    const sheet = await makePaidSheet(app, 1)
    const job = must((await sheet.jobs())[0])
    const before = await claimAndReserve(old, reservations, job)
    const after = must(await fresh.claim(job))
    expect(after.fence.attempt).toBe(before.fence.attempt + 1)
    expect(await act(old, before)).toEqual(answer)
    expect(await sheet.cells()).toEqual([])
    await expectPaid(sheet, 0)
    const paying = withPosition(after, { reservation: before.position.reservation })
    expect(await fresh.settle(paying, complete(after, 'paid_2', PRICE))).toEqual({ runState: 'running' })
    expect(await act(old, before)).toEqual(answer)
    expect((await sheet.cells()).map(({ action, credits }) => [action, credits])).toEqual([['paid_1', PRICE]])
    expect((await sheet.flights()).map(({ action, attempt }) => [action, attempt])).toEqual([['paid_2', 2]])
    await expectPaid(sheet, 1)
  })

  it('nor does it report a job as done that another worker has now', async () => {
    const sheet = await makePaidSheet(app, 1, ['free'])
    const job = must((await sheet.jobs())[0])
    const overtaken = {
      ...engine,
      settingOf: async (run: RunFacts) => {
        await fresh.claim(job)
        return engine.settingOf(run)
      },
    }
    await expect(walkRow(overtaken, job)).rejects.toThrow(RowTakenOver)
    const dropped = {
      ...engine,
      settingOf: async (run: RunFacts) => {
        await sheet.org.call('POST', `${sheet.base}/rows/delete`, { row_ids: [job.r] })
        return engine.settingOf(run)
      },
    }
    await expect(walkRow(dropped, job)).resolves.toBeUndefined()
    expect(await sheet.cells()).toEqual([])
  })

  it('a job of a run that was stopped does not claim the row for a later run', async () => {
    const sheet = await makePaidSheet(app, 1)
    const stale = must((await sheet.jobs())[0])
    await sheet.stop()
    await sheet.run()
    expect(await old.claim(stale)).toBeNull()
    expect((await sheet.flights())[0]?.attempt).toBe(0)
  })
})

describe('a cell is settled once', () => {
  it('a settlement sent twice, in turn or at once, is charged once', async () => {
    const sheet = await makePaidSheet(app, 2)
    const flights = await Promise.all(
      (await sheet.jobs()).map((job) => claimAndReserve(old, reservations, job)),
    )
    const [first, second] = [must(flights[0]), must(flights[1])]
    expect(await old.settle(first, complete(first, 'paid_2', PRICE))).not.toBeNull()
    expect(await old.settle(first, complete(first, 'paid_2', PRICE))).toBeNull()
    const stores = Array.from({ length: 8 }, (_, lane) => makeFlightStore(app, lane))
    const answers = await Promise.all(
      stores.map((store) => store.settle(second, complete(second, null, PRICE))),
    )
    expect(answers.filter((answer) => answer !== null)).toHaveLength(1)
    await expectPaid(sheet, 2)
    expect(await sheet.cells()).toHaveLength(2)
  })

  it('a plain result leaves nothing of an earlier one in its cell', async () => {
    const sheet = await makePaidSheet(app, 1, ['free'])
    const settle = async (more: Partial<SettledCell>, retries: number) => {
      const flight = must(await old.claim(must((await sheet.jobs())[0])))
      await old.settle(withPosition(flight, { retries }), complete(flight, null, 0, more))
      const [cell] = await app.store.query({
        text: 'select status, error, attempts, provenance from cells where org_id = $1',
        values: [sheet.org.orgId],
      })
      return cell
    }
    const provenance = [{ provider: 'X', status: 'no_match' as const, ms: 1, credits: 0 }]
    const failure = { status: 'error' as const, error: 'first', provenance }
    expect(await settle(failure, 2)).toEqual({ ...failure, attempts: 3 })
    await sheet.run()
    expect(await settle({}, 0)).toEqual({ status: 'complete', error: null, attempts: 1, provenance: null })
  })

  const ends: [string, (sheet: FlightSheet) => Promise<unknown>][] = [
    [
      'Delete Rows',
      async (sheet) => {
        const row_ids = (await sheet.flights()).map((flight) => flight.row_id)
        return (await sheet.org.call('POST', `${sheet.base}/rows/delete`, { row_ids })).status
      },
    ],
    [
      'Delete All Rows',
      async (sheet) => (await sheet.org.call('POST', `${sheet.base}/rows/delete-all`)).status,
    ],
    [
      'Delete Workflow',
      async (sheet) => (await sheet.org.call('DELETE', `/workflows/${sheet.base.slice(-36)}`)).status,
    ],
  ]
  it.each(ends)('%s: late results have no effect (D23)', async (_name, end) => {
    const sheet = await makePaidSheet(app, 3)
    const flights = await Promise.all(
      (await sheet.jobs()).map((job) => claimAndReserve(old, reservations, job)),
    )
    await expectPaid(sheet, 0)
    expect(await end(sheet)).toBe(200)
    await expectPaid(sheet, 0)
    const late = await Promise.all(
      flights.map((flight) => old.settle(flight, complete(flight, 'paid_2', PRICE))),
    )
    expect(late).toEqual([null, null, null])
    expect(await sheet.cells()).toEqual([])
    expect(await sheet.flights()).toEqual([])
    await expectPaid(sheet, 0)
  })

  it('Stop removes queued cells, and lets a running cell finish (D23)', async () => {
    const sheet = await makePaidSheet(app, 2)
    const jobs = await sheet.jobs()
    const running = await claimAndReserve(old, reservations, must(jobs[0]))
    const waiting = await claimAndReserve(old, reservations, must(jobs[1]))
    expect(await old.park(waiting, { ms: 60_000, retries: 1 })).toBe(true)
    await expectPaid(sheet, 0)
    expect(await sheet.stop()).toBe(2)
    await expectPaid(sheet, 0)
    expect(await old.settle(running, complete(running, 'paid_2', PRICE))).toEqual({ runState: 'stopped' })
    await expectPaid(sheet, 1)
    expect(
      await old.settle(
        { ...waiting, fence: { ...waiting.fence, ticket: waiting.fence.ticket + 1 } },
        complete(waiting, null, PRICE),
      ),
    ).toBeNull()
    await expectPaid(sheet, 1)
  })
})

describe('Stop', () => {
  it('a running cell that would be parked ends with its run', async () => {
    const sheet = await makePaidSheet(app, 1)
    const flight = await claimAndReserve(old, reservations, must((await sheet.jobs())[0]))
    await sheet.stop()
    await expectPaid(sheet, 0)
    expect(await old.park(flight, { ms: 60_000, retries: 1 })).toBe(true)
    expect(await sheet.flights()).toEqual([])
    await expectPaid(sheet, 0)
  })

  it('a cell that parks while its run is being stopped ends a moment later, without waiting', async () => {
    const sheet = await makePaidSheet(app, 1)
    const flight = await claimAndReserve(old, reservations, must((await sheet.jobs())[0]))
    const record = await sheet.record()
    await inTransaction(app.store.org(sheet.org.orgId), async (trx) => {
      expect(await stopRuns(trx, OPERATOR, record)).toBe(1)
      expect(await old.park(flight, { ms: 60_000, retries: 1 })).toBe(true)
      await endParked(app.store.system)
    })
    expect(await sheet.flights()).toHaveLength(1)
    await endParked(app.store.system)
    expect(await sheet.flights()).toEqual([])
    await expectPaid(sheet, 0)
  })

  it('a row that is running a cell may finish it', async () => {
    const sheet = await makePaidSheet(app, 1)
    const flight = await claimAndReserve(old, reservations, must((await sheet.jobs())[0]))
    await sheet.stop()
    await endParked(app.store.system)
    expect(await old.settle(flight, complete(flight, 'paid_2', PRICE))).toEqual({ runState: 'stopped' })
    await expectPaid(sheet, 1)
  })
})

describe('Stop and run again', () => {
  it('a row whose cell is still running belongs to the new run; the old result has no effect', async () => {
    const sheet = await makePaidSheet(app, 1)
    const before = await claimAndReserve(old, reservations, must((await sheet.jobs())[0]))
    await sheet.stop()
    const { runId, rowsQueued } = await sheet.run()
    expect([rowsQueued, (await sheet.flights()).map((flight) => flight.run_id)]).toEqual([1, [runId]])
    await expectPaid(sheet, 0)
    expect(await old.settle(before, complete(before, 'paid_2', PRICE))).toBeNull()
    await expectPaid(sheet, 0)
  })
})

describe('the result of a cell is unknown', () => {
  it('if an earlier claim neither settled nor parked it', async () => {
    const sheet = await makePaidSheet(app, 1, ['free', 'free'])
    const job = must((await sheet.jobs())[0])
    const claim = async (resumed: boolean) => must(await old.claim(job, { resumed }))
    const taken = [await claim(false), await claim(true), await claim(false)]
    expect(taken.map(({ position }) => position.isTakenOver)).toEqual([false, true, true])
    const last = must(taken[2])
    await old.settle(last, complete(last, 'free_2'))
    moveTo(last, 'free_2')
    expect(last.position.isTakenOver).toBe(false)
    await old.park(last, { ms: 0, retries: 0 })
    const parked = must((await sheet.jobs())[0])
    expect(must(await old.claim(parked)).position.isTakenOver).toBe(false)
  })
})

describe('a row that ends its workers (R6)', () => {
  it('is not one whose worker lost the database and claims it again', async () => {
    const sheet = await makePaidSheet(app, 1, ['free', 'free'])
    const job = must((await sheet.jobs())[0])
    const stalled = async (resumed: boolean) => must(await old.claim(job, { resumed })).position.stalledClaims
    expect([await stalled(false), await stalled(true), await stalled(true)]).toEqual([1, 1, 1])
    expect([await stalled(false), await stalled(true)]).toEqual([2, 2])
    const flight = must(await old.claim(job, { resumed: true }))
    await old.settle(flight, complete(flight, 'free_2'))
    expect(await stalled(true)).toBe(1)
  })

  it.each([
    ['in flight with others, however often', [9, 2, 2, 2], 'complete'],
    ['alone once', [9, 1], 'complete'],
    ['alone twice', [9, 1, 0], 'error'],
  ])('%s, when its worker died: %j', async (_when, groups, status) => {
    const sheet = await makePaidSheet(app, 2, ['free', 'free'])
    const [poison, healthy] = await sheet.jobs()
    for (const size of groups) await old.markTested(must(await old.claim(must(poison))), size)
    await Promise.all([walkRow(engine, must(poison)), walkRow(engine, must(healthy))])
    const cells = (await sheet.cells()).filter((cell) => cell.row_id === poison?.r)
    const expected = status === 'error' ? ['free_1 error'] : ['free_1 complete', 'free_2 complete']
    expect(cells.map((cell) => `${cell.action} ${cell.status}`)).toEqual(expected)
    expect((await sheet.cells()).filter((cell) => cell.row_id === healthy?.r)).toHaveLength(2)
    expect(await sheet.flights()).toEqual([])
  })

  it('is not one that was tried alone at an earlier cell', async () => {
    const sheet = await makePaidSheet(app, 1, ['free', 'free'])
    const job = must((await sheet.jobs())[0])
    const tried = must(await old.claim(job))
    await old.markTested(tried, 0)
    await old.settle(tried, complete(tried, 'free_2'))
    expect(must(await old.claim(job)).position.testedIn).toBeNull()
  })

  it('R2: is not one that was tried alone when its worker lost the database', async () => {
    const sheet = await makePaidSheet(app, 1, ['free'])
    const job = must((await sheet.jobs())[0])
    await old.claim(job)
    for (const size of [1, 0]) await old.markTested(must(await old.claim(job)), size)
    expect(must(await old.claim(job, { resumed: true })).position.testedIn).toBeNull()
    await walkRow(engine, job, { resumed: true })
    expect((await sheet.cells()).map((cell) => cell.status)).toEqual(['complete'])
  })
})
