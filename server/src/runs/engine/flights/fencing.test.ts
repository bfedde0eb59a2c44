import { describe, expect, it } from 'vitest'
import { inTransaction } from '#server/database/connection/db.ts'
import { NumberText } from '#server/lib/json/lossless-json.ts'
import { endShares } from '#server/money/store/purses/fold.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { endParked } from '#server/runs/finished-runs.ts'
import { stopRuns } from '#server/runs/queue.ts'
import { PRICE } from '../testing/fault-catalogue.ts'
import {
  claimAndReserve,
  complete,
  type FlightSheet,
  makeFlightStore,
  makeFlightSheet,
  makeFlightApp,
  makePurseKeeper,
  must,
  withPosition,
} from '../testing/flight-store-fixture.ts'
import { makeEngine } from '../testing/test-engine.ts'
import { RowTakenOver } from '../walk-cells.ts'
import { walkRow } from '../walk.ts'
import type { FlightStore } from './flight-store.ts'
import type { Flight, RowJob, RunFacts, SettledCell } from './flight.ts'
import { createLargeRows } from './large-rows.ts'
import { moveTo } from './position.ts'

const app = await makeFlightApp()
const old = makeFlightStore(app, 1)
const fresh = makeFlightStore(app, 2)
const engine = makeEngine(app)
const purses = makePurseKeeper(app)
const START = 100_000

/** The books agree with each other, and say that this many cells were paid. */
async function expectPaid(sheet: FlightSheet, cells: number): Promise<void> {
  const credits = START - cells * PRICE
  const accounts = await sheet.accounts()
  expect(accounts).toMatchObject({ credits, ledger: credits, charges: cells })
  expect(accounts.held).toBe(accounts.shares)
}

async function makePaidSheet(rows: number, chain = ['paid', 'paid']): Promise<FlightSheet> {
  const sheet = await makeFlightSheet(app, chain, START)
  await sheet.addRows(rows)
  await sheet.run()
  return sheet
}

describe('a worker that lost its lease changes nothing (R3)', () => {
  const late: [string, (store: FlightStore, flight: Flight) => Promise<unknown>, unknown][] = [
    ['settle', (store, flight) => store.settle(flight, complete(flight, 'paid_2', PRICE)), null],
    ['settle the end', (store, flight) => store.settle(flight, complete(flight, null, PRICE)), null],
    ['park', (store, flight) => store.park(flight, { ms: 0, retries: 1 }), false],
    ['abandon', (store, flight) => store.abandon(flight), false],
  ]
  it.each(late)('%s', async (_name, act, answer) => {
    const sheet = await makePaidSheet(1)
    const job = must((await sheet.jobs())[0])
    const before = await claimAndReserve(old, purses, job)
    const after = must(await fresh.claim(job))
    expect(after.fence.attempt).toBe(before.fence.attempt + 1)
    expect(await act(old, before)).toEqual(answer)
    expect(await sheet.cells()).toEqual([])
    await expectPaid(sheet, 0)
    const paying = withPosition(after, { hold: before.position.hold })
    expect(await fresh.settle(paying, complete(after, 'paid_2', PRICE))).toEqual({ runState: 'running' })
    expect(await act(old, before)).toEqual(answer)
    expect((await sheet.cells()).map(({ action, credits }) => [action, credits])).toEqual([['paid_1', PRICE]])
    expect((await sheet.flights()).map(({ action, attempt }) => [action, attempt])).toEqual([['paid_2', 2]])
    await expectPaid(sheet, 1)
  })

  it('nor does it report the job as done that another worker has now', async () => {
    const sheet = await makePaidSheet(1, ['free'])
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
    const sheet = await makePaidSheet(1)
    const stale = must((await sheet.jobs())[0])
    await sheet.stop()
    await sheet.run()
    expect(await old.claim(stale)).toBeNull()
    expect((await sheet.flights())[0]?.attempt).toBe(0)
  })
})

describe('a cell is settled once', () => {
  it('a settlement that is sent twice, one after the other or at once, is charged once', async () => {
    const sheet = await makePaidSheet(2)
    const flights = await Promise.all((await sheet.jobs()).map((job) => claimAndReserve(old, purses, job)))
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
    const sheet = await makePaidSheet(1, ['free'])
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
    const sheet = await makePaidSheet(3)
    const flights = await Promise.all((await sheet.jobs()).map((job) => claimAndReserve(old, purses, job)))
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

  it('Stop removes what is queued, and lets a running cell finish (D23)', async () => {
    const sheet = await makePaidSheet(2)
    const jobs = await sheet.jobs()
    const running = await claimAndReserve(old, purses, must(jobs[0]))
    const waiting = await claimAndReserve(old, purses, must(jobs[1]))
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
    const sheet = await makePaidSheet(1)
    const flight = await claimAndReserve(old, purses, must((await sheet.jobs())[0]))
    await sheet.stop()
    await expectPaid(sheet, 0)
    expect(await old.park(flight, { ms: 60_000, retries: 1 })).toBe(true)
    expect(await sheet.flights()).toEqual([])
    await expectPaid(sheet, 0)
  })

  it('one that is parked while its run is being stopped ends a moment later, and does not wait for as long as it would have', async () => {
    const sheet = await makePaidSheet(1)
    const flight = await claimAndReserve(old, purses, must((await sheet.jobs())[0]))
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

  it('one that is at work on a cell is left to finish it', async () => {
    const sheet = await makePaidSheet(1)
    const flight = await claimAndReserve(old, purses, must((await sheet.jobs())[0]))
    await sheet.stop()
    await endParked(app.store.system)
    expect(await old.settle(flight, complete(flight, 'paid_2', PRICE))).toEqual({ runState: 'stopped' })
    await expectPaid(sheet, 1)
  })
})

describe('Stop and run again', () => {
  it('a row whose cell is still running belongs to the new run; the old result has no effect', async () => {
    const sheet = await makePaidSheet(1)
    const before = await claimAndReserve(old, purses, must((await sheet.jobs())[0]))
    await sheet.stop()
    const { runId, rowsQueued } = await sheet.run()
    expect([rowsQueued, (await sheet.flights()).map((flight) => flight.run_id)]).toEqual([1, [runId]])
    await expectPaid(sheet, 0)
    expect(await old.settle(before, complete(before, 'paid_2', PRICE))).toBeNull()
    await expectPaid(sheet, 0)
  })
})

describe('credits (D22)', () => {
  it('never below zero: of 50 cells at once exactly those are granted that the balance covers', async () => {
    const sheet = await makeFlightSheet(app, ['paid'], 7 * PRICE + PRICE - 1)
    await sheet.addRows(50)
    await sheet.run()
    const keepers = Array.from({ length: 10 }, () => makePurseKeeper(app))
    const jobs = await sheet.jobs()
    const need = { more: PRICE, total: PRICE }
    const answers = await Promise.all(
      jobs.map(async (job, n) => {
        const flight = must(await old.claim(job))
        const answer = await must(keepers[n % keepers.length]).hold(flight.facts, null, need)
        const { credits, held, shares } = await sheet.accounts()
        expect([credits >= held, held]).toEqual([true, shares])
        return { flight, answer }
      }),
    )
    const granted = answers.flatMap(({ flight, answer }) =>
      'hold' in answer ? [withPosition(flight, { hold: answer.hold })] : [],
    )
    const others = answers.flatMap(({ answer }) => ('refusal' in answer ? [answer.refusal] : []))
    expect([granted.length, others.filter(({ isFinal }) => !isFinal).length]).toEqual([7, 43])
    await Promise.all(granted.map((flight) => old.settle(flight, complete(flight, null, PRICE))))
    const left = PRICE - 1
    expect(await sheet.accounts()).toEqual({ credits: left, ledger: left, charges: 7, held: 0, shares: 0 })
    const late = await must(keepers[0]).hold(must(granted[0]).facts, null, need)
    expect(late).toMatchObject({ refusal: { kind: 'balance', leftMillis: left, isFinal: true } })
  })

  it('cells that ask in a crowd are granted some ahead of those who follow, and what is not used goes back', async () => {
    const sheet = await makeFlightSheet(app, ['paid'], 1000 * PRICE)
    await sheet.addRows(1)
    await sheet.run()
    const { facts } = must(await old.claim(must((await sheet.jobs())[0])))
    const keeper = makePurseKeeper(app)
    const need = { more: PRICE, total: PRICE }
    const first = await keeper.hold(facts, null, need)
    expect((await sheet.accounts()).held).toBe(PRICE)
    const crowd = await Promise.all(Array.from({ length: 10 }, async () => keeper.hold(facts, null, need)))
    const { held } = await sheet.accounts()
    expect([held > 12 * PRICE, held <= 11 * PRICE + 80 * PRICE]).toEqual([true, true])
    const later = keeper.hold(facts, null, need)
    expect(later).not.toBeInstanceOf(Promise)
    for (const answer of [first, ...crowd, await later]) if ('hold' in answer) keeper.spend(answer.hold, 0)
    await keeper.flush()
    expect(await sheet.accounts()).toMatchObject({ credits: 1000 * PRICE, held: 0, shares: 0 })
  })

  it('a crowd that the balance does not cover is granted what it does', async () => {
    const sheet = await makeFlightSheet(app, ['paid'], 7 * PRICE + PRICE - 1)
    await sheet.addRows(1)
    await sheet.run()
    const { facts } = must(await old.claim(must((await sheet.jobs())[0])))
    const keeper = makePurseKeeper(app)
    const need = { more: PRICE, total: PRICE }
    const answers = await Promise.all(Array.from({ length: 20 }, async () => keeper.hold(facts, null, need)))
    expect(answers.filter((answer) => 'hold' in answer)).toHaveLength(7)
    const { credits, held } = await sheet.accounts()
    expect(held).toBeLessThanOrEqual(credits)
  })

  it('a cell that fails, is skipped or parked is not charged', async () => {
    const sheet = await makePaidSheet(1, ['paid'])
    const flight = await claimAndReserve(old, purses, must((await sheet.jobs())[0]))
    expect(await old.park(flight, { ms: 0, retries: 1 })).toBe(true)
    await expectPaid(sheet, 0)
    const again = must(await fresh.claim(must((await sheet.jobs())[0])))
    expect([again.fence.attempt, again.position]).toMatchObject([2, { retries: 1, stalledClaims: 1 }])
    await fresh.settle(again, complete(again, null, 0, { status: 'failed', error: 'no' }))
    await expectPaid(sheet, 0)
  })

  it('M17: whoever was taken for dead settles nothing that costs, and loses no row by it', async () => {
    const sheet = await makePaidSheet(2)
    const jobs = await sheet.jobs()
    const keeper = makePurseKeeper(app)
    const flight = await claimAndReserve(old, keeper, must(jobs[0]))
    const id = must(keeper.holderIds()[0])
    await endShares(app.store.system, sheet.org.orgId, id)
    await expect(old.settle(flight, complete(flight, 'paid_2', PRICE))).rejects.toThrow('were ended')
    await expectPaid(sheet, 0)
    expect(await sheet.cells()).toEqual([])
    expect((await sheet.accounts()).held).toBe(0)
    const next = keeper.hold(flight.facts, null, { more: PRICE, total: PRICE })
    await expect(next).rejects.toThrow('were ended')
    expect(await keeper.hold(flight.facts, null, { more: PRICE, total: PRICE })).toHaveProperty('hold')
  })
})

describe('a batch of rows that are all through', () => {
  it('is written but for those that another worker has taken over', async () => {
    const sheet = await makePaidSheet(20, ['paid'])
    const jobs = await sheet.jobs()
    const flights = await Promise.all(jobs.map((job) => claimAndReserve(old, purses, job)))
    await fresh.claim(must(jobs[10]))
    const answers = await Promise.all(
      flights.map((flight) => old.settle(flight, complete(flight, null, PRICE))),
    )
    expect(answers.flatMap((answer, n) => (answer === null ? [n] : []))).toEqual([10])
    expect(await sheet.cells()).toHaveLength(19)
    expect((await sheet.flights()).map(({ attempt }) => attempt)).toEqual([2])
    await expectPaid(sheet, 19)
  })
})

describe('a batch of rows of several runs, of several organisations', () => {
  const ends: [string, string | null][] = [
    ['in the middle of their chains', 'paid_2'],
    ['that are all through', null],
  ]
  it.each(ends)(
    '%s: each is written where it belongs, but for those that were taken over',
    async (_, next) => {
      const sheets = await Promise.all([makePaidSheet(5), makePaidSheet(5), makePaidSheet(5)])
      const jobs = await Promise.all(sheets.map((sheet) => sheet.jobs()))
      // In turns, so that none has the group of the one before.
      const mixed = jobs[0]?.flatMap((_job, n) => jobs.map((own) => must(own[n]))) ?? []
      const flights = await Promise.all(mixed.map((job) => claimAndReserve(old, purses, job)))
      expect(new Set(flights.map(({ facts }) => facts.run_id)).size).toBe(3)
      await fresh.claim(must(jobs[1]?.[2]))
      const answers = await Promise.all(
        flights.map((flight) => old.settle(flight, complete(flight, next, PRICE))),
      )
      expect(answers.flatMap((answer, n) => (answer === null ? [n] : []))).toEqual([7])
      for (const [n, sheet] of sheets.entries()) {
        const cells = await sheet.cells()
        const runs = new Set(flights.filter((_flight, at) => at % 3 === n).map(({ facts }) => facts.run_id))
        expect(cells).toHaveLength(n === 1 ? 4 : 5)
        expect(new Set(cells.map(({ run_id }) => run_id))).toEqual(runs)
        await expectPaid(sheet, cells.length)
      }
    },
  )
})

describe('what cannot be stored', () => {
  it('one result that PostgreSQL refuses does not take the rest of its batch with it', async () => {
    const sheet = await makePaidSheet(20)
    const flights = await Promise.all((await sheet.jobs()).map((job) => claimAndReserve(old, purses, job)))
    const results = await Promise.allSettled(
      flights.map((flight, n) =>
        old.settle(
          flight,
          complete(flight, 'paid_2', PRICE, {
            outputs: { value: n === 10 ? new NumberText('1e400000') : 'x' },
          }),
        ),
      ),
    )
    expect(results.flatMap((result, n) => (result.status === 'rejected' ? [n] : []))).toEqual([10])
    await expectPaid(sheet, 19)
    expect((await sheet.flights()).filter((flight) => flight.action === 'paid_1')).toHaveLength(1)
  })
})

describe('what came of a cell is not known', () => {
  it('when somebody claimed it before and neither settled nor parked it', async () => {
    const sheet = await makePaidSheet(1, ['free', 'free'])
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
    const sheet = await makePaidSheet(1, ['free', 'free'])
    const job = must((await sheet.jobs())[0])
    const stalled = async (resumed: boolean) => must(await old.claim(job, { resumed })).position.stalledClaims
    expect([await stalled(false), await stalled(true), await stalled(true)]).toEqual([1, 1, 1])
    expect([await stalled(false), await stalled(true)]).toEqual([2, 2])
    const flight = must(await old.claim(job, { resumed: true }))
    await old.settle(flight, complete(flight, 'free_2'))
    expect(await stalled(true)).toBe(1)
  })

  it.each([
    ['in the air with others, however often', [9, 2, 2, 2], 'complete'],
    ['alone once', [9, 1], 'complete'],
    ['alone twice', [9, 1, 0], 'error'],
  ])('%s, when its worker died: %j', async (_when, groups, status) => {
    const sheet = await makePaidSheet(2, ['free', 'free'])
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
    const sheet = await makePaidSheet(1, ['free', 'free'])
    const job = must((await sheet.jobs())[0])
    const tried = must(await old.claim(job))
    await old.markTested(tried, 0)
    await old.settle(tried, complete(tried, 'free_2'))
    expect(must(await old.claim(job)).position.testedIn).toBeNull()
  })

  it('R2: is not one that was tried alone when its worker lost the database', async () => {
    const sheet = await makePaidSheet(1, ['free'])
    const job = must((await sheet.jobs())[0])
    await old.claim(job)
    for (const size of [1, 0]) await old.markTested(must(await old.claim(job)), size)
    expect(must(await old.claim(job, { resumed: true })).position.testedIn).toBeNull()
    await walkRow(engine, job, { resumed: true })
    expect((await sheet.cells()).map((cell) => cell.status)).toEqual(['complete'])
  })
})

describe('F2: inputs of large rows', () => {
  const makeLargeSheet = async (rows: number, kill = 'x'.repeat(300_000)) => {
    const sheet = await makeFlightSheet(app, ['free'], START)
    await sheet.addRows(rows, { kill })
    await sheet.run()
    return sheet
  }
  const claimAll = async (sheet: FlightSheet) =>
    Promise.all((await sheet.jobs()).map(async (job) => must(await old.claim(job))))

  it('stay where they are when rows are claimed or peeked at, compressed or not, and are walked all the same', async () => {
    const noise = Array.from({ length: 3000 }, () => Math.random().toString(36)).join('')
    for (const kill of [undefined, noise]) {
      const sheet = await makeLargeSheet(2, kill)
      const [first, second] = await sheet.jobs()
      expect(must(await old.peek(must(first))).row).toMatchObject({ data: null })
      expect(must(await old.claim(must(first))).row.unreadBytes).toBeGreaterThan(1000)
      await Promise.all([walkRow(engine, must(first)), walkRow(engine, must(second), { fresh: true })])
      expect((await sheet.cells()).map((cell) => cell.status)).toEqual(['complete', 'complete'])
    }
  })

  it('wait for room, but for the first of an organisation, and are not read any more while the process ends', async () => {
    const [mine, theirs] = [await makeLargeSheet(3), await makeLargeSheet(1)]
    let isEnding = false
    const withInputs = createLargeRows(app.store, () => isEnding, 100_000)
    const begun: string[] = []
    const ends = new Map<string, () => void>()
    const walk = (flight: Flight, name: string) =>
      withInputs(flight, async ({ row }) => {
        begun.push(`${name} ${row.data === null ? 'unread' : 'read'}`)
        await new Promise<void>((resolve) => ends.set(name, resolve))
      })
    const [one, two, three] = await claimAll(mine)
    const walks = [walk(must(one), 'one'), walk(must(two), 'two'), walk(must(three), 'three')]
    await expect.poll(() => begun.length).toBe(1)
    for (const flight of await claimAll(theirs)) walks.push(walk(flight, 'theirs'))
    await expect.poll(() => begun).toEqual(['one read', 'theirs read'])
    ends.get('theirs')?.()
    ends.get('one')?.()
    await expect.poll(() => begun.slice(2)).toEqual(['two read'])
    isEnding = true
    ends.get('two')?.()
    await expect.poll(() => begun.slice(3)).toEqual(['three unread'])
    ends.get('three')?.()
    await Promise.all(walks)
  })
})

describe('results that a row has from runs before', () => {
  /** Of a run of the second action; the first has its result. */
  async function runOn(): Promise<RowJob & { run: string }> {
    const sheet = await makeFlightSheet(app, ['free', 'free'], START)
    await sheet.addRows(1)
    await sheet.run({ kind: 'all' }, ['free_1'])
    const flight = must(await old.claim(must((await sheet.jobs())[0]), { fresh: true }))
    await old.settle(flight, complete(flight, null, 0))
    const { runId } = await sheet.run({ kind: 'all' }, ['free_2'])
    return { ...must((await sheet.jobs())[0]), run: runId }
  }

  it('are read, unless the run reads none of them and the row is fresh', async () => {
    const job = await runOn()
    const store = makeFlightStore(app, 3)
    const { facts, row } = must(await store.peek(job))
    expect(row.cells).toContain('free_1')
    store.leaveEarlierResults(facts)
    expect(must(await store.peek(job)).row.cells).toBeNull()
    expect(must(await store.claim(job, { fresh: true })).row.cells).toBeNull()
    // It may have results of this run by now.
    expect(must(await store.claim(job, { fresh: true })).row.cells).toContain('free_1')
    expect(must(await store.claim(job)).row.cells).toContain('free_1')
  })

  it('are read where another run has the row than its job names', async () => {
    const job = await runOn()
    const other = await runOn()
    const store = makeFlightStore(app, 3)
    store.leaveEarlierResults(must(await store.peek(other)).facts)
    const misled = { ...job, run: other.run }
    expect(must(await store.peek(misled)).row.cells).toContain('free_1')
    expect(must(await store.claim(misled, { fresh: true })).row.cells).toContain('free_1')
  })
})
