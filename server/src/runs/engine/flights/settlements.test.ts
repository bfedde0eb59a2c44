import { describe, expect, it } from 'vitest'
import { NumberText } from '#server/lib/json/lossless-json.ts'
import { endLeases } from '#server/money/store/limits/posting.ts'
import { PRICE } from '../testing/fault-catalogue.ts'
import {
  claimAndReserve,
  complete,
  makeFlightStore,
  makeFlightSheet,
  makeFlightApp,
  makeReservations,
  must,
  withPosition,
} from '../testing/flight-store-fixture.ts'
import { expectPaid, makePaidSheet } from '../testing/paid-sheets.ts'
import { moveTo } from './position.ts'

const app = await makeFlightApp()
const old = makeFlightStore(app, 1)
const fresh = makeFlightStore(app, 2)
const reservations = makeReservations(app)

describe('credits (D22)', () => {
  it('never below zero: of 50 cells at once, exactly those that the balance covers are granted', async () => {
    const sheet = await makeFlightSheet(app, ['paid'], 7 * PRICE + PRICE - 1)
    await sheet.addRows(50)
    await sheet.run()
    const keepers = Array.from({ length: 10 }, () => makeReservations(app))
    const jobs = await sheet.jobs()
    const need = { more: PRICE, total: PRICE }
    const answers = await Promise.all(
      jobs.map(async (job, n) => {
        const flight = must(await old.claim(job))
        const answer = await must(keepers[n % keepers.length]).reserve(flight.facts, null, need)
        const { credits, held, leases } = await sheet.accounts()
        expect([credits >= held, held]).toEqual([true, leases])
        return { flight, answer }
      }),
    )
    const granted = answers.flatMap(({ flight, answer }) =>
      'reservation' in answer ? [withPosition(flight, { reservation: answer.reservation })] : [],
    )
    const others = answers.flatMap(({ answer }) => ('refusal' in answer ? [answer.refusal] : []))
    expect([granted.length, others.filter(({ isFinal }) => !isFinal).length]).toEqual([7, 43])
    await Promise.all(granted.map((flight) => old.settle(flight, complete(flight, null, PRICE))))
    const left = PRICE - 1
    expect(await sheet.accounts()).toEqual({ credits: left, ledger: left, charges: 7, held: 0, leases: 0 })
    const late = await must(keepers[0]).reserve(must(granted[0]).facts, null, need)
    expect(late).toMatchObject({ refusal: { kind: 'balance', leftMillis: left, isFinal: true } })
  })

  it('cells that ask in a crowd get more for those that follow, and unused credits go back', async () => {
    const sheet = await makeFlightSheet(app, ['paid'], 1000 * PRICE)
    await sheet.addRows(1)
    await sheet.run()
    const { facts } = must(await old.claim(must((await sheet.jobs())[0])))
    const keeper = makeReservations(app)
    const need = { more: PRICE, total: PRICE }
    const first = await keeper.reserve(facts, null, need)
    expect((await sheet.accounts()).held).toBe(PRICE)
    const crowd = await Promise.all(Array.from({ length: 10 }, async () => keeper.reserve(facts, null, need)))
    const { held } = await sheet.accounts()
    expect([held > 12 * PRICE, held <= 11 * PRICE + 80 * PRICE]).toEqual([true, true])
    const later = await keeper.reserve(facts, null, need)
    expect((await sheet.accounts()).held).toBe(held)
    for (const answer of [first, ...crowd, later])
      if ('reservation' in answer) keeper.spend(answer.reservation, 0)
    await keeper.flush()
    expect(await sheet.accounts()).toMatchObject({ credits: 1000 * PRICE, held: 0, leases: 0 })
  })

  it('a crowd that the balance does not cover gets the whole balance', async () => {
    const sheet = await makeFlightSheet(app, ['paid'], 7 * PRICE + PRICE - 1)
    await sheet.addRows(1)
    await sheet.run()
    const { facts } = must(await old.claim(must((await sheet.jobs())[0])))
    const keeper = makeReservations(app)
    const need = { more: PRICE, total: PRICE }
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => keeper.reserve(facts, null, need)),
    )
    expect(answers.filter((answer) => 'reservation' in answer)).toHaveLength(7)
    const { credits, held } = await sheet.accounts()
    expect(held).toBeLessThanOrEqual(credits)
  })

  it('a cell that fails, is skipped or parked is not charged', async () => {
    const sheet = await makePaidSheet(app, 1, ['paid'])
    const flight = await claimAndReserve(old, reservations, must((await sheet.jobs())[0]))
    expect(await old.park(flight, { ms: 0, retries: 1 })).toBe(true)
    await expectPaid(sheet, 0)
    const again = must(await fresh.claim(must((await sheet.jobs())[0])))
    expect([again.fence.attempt, again.position]).toMatchObject([2, { retries: 1, stalledClaims: 1 }])
    await fresh.settle(again, complete(again, null, 0, { status: 'failed', error: 'no' }))
    await expectPaid(sheet, 0)
  })

  it('M17: a worker taken for dead settles no priced cell, and no row is lost', async () => {
    const sheet = await makePaidSheet(app, 2)
    const jobs = await sheet.jobs()
    const keeper = makeReservations(app)
    const flight = await claimAndReserve(old, keeper, must(jobs[0]))
    const id = must(keeper.holderIds()[0])
    await endLeases(app.store.system, sheet.org.orgId, id)
    await expect(old.settle(flight, complete(flight, 'paid_2', PRICE))).rejects.toThrow('were ended')
    await expectPaid(sheet, 0)
    expect(await sheet.cells()).toEqual([])
    expect((await sheet.accounts()).held).toBe(0)
    const next = keeper.reserve(flight.facts, null, { more: PRICE, total: PRICE })
    await expect(next).rejects.toThrow('were ended')
    expect(await keeper.reserve(flight.facts, null, { more: PRICE, total: PRICE })).toHaveProperty(
      'reservation',
    )
  })
})

describe('a batch of finished rows', () => {
  it('is written, except the rows that another worker has taken over', async () => {
    const sheet = await makePaidSheet(app, 20, ['paid'])
    const jobs = await sheet.jobs()
    const flights = await Promise.all(jobs.map((job) => claimAndReserve(old, reservations, job)))
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

describe('a batch of rows at different cells of their chains', () => {
  it('is written, also if some cells failed', async () => {
    const sheet = await makePaidSheet(app, 10, ['paid', 'paid', 'paid'])
    const jobs = await sheet.jobs()
    const flights = await Promise.all(jobs.map((job) => claimAndReserve(old, reservations, job)))
    const isAhead = (n: number) => n % 2 === 1
    for (const [n, flight] of flights.entries()) {
      if (!isAhead(n)) continue
      await old.settle(flight, complete(flight, 'paid_2', PRICE))
      moveTo(flight, 'paid_2')
      const answer = await reservations.reserve(flight.facts, flight.position.reservation, {
        more: PRICE,
        total: PRICE,
      })
      expect(answer).toHaveProperty('reservation')
    }
    const answers = await Promise.all(
      flights.map((flight, n) =>
        isAhead(n)
          ? old.settle(flight, complete(flight, 'paid_3', PRICE))
          : old.settle(flight, complete(flight, null, 0, { status: 'failed', error: 'no' })),
      ),
    )
    expect(answers).not.toContain(null)
    const statuses = (await sheet.cells()).map(({ action, status }) => `${action} ${status}`)
    for (const status of ['paid_1 complete', 'paid_1 failed', 'paid_2 complete'])
      expect(statuses.filter((one) => one === status)).toHaveLength(5)
    expect(await sheet.flights()).toHaveLength(5)
    await expectPaid(sheet, 10)
  })

  it('rewrites cells of another run that stand in their places, once', async () => {
    const sheet = await makePaidSheet(app, 10, ['paid'])
    const jobs = await sheet.jobs()
    const flights = await Promise.all(jobs.map((job) => claimAndReserve(old, reservations, job)))
    await app.store.query({
      text: `insert into cells (org_id, sheet_id, row_id, action, status, run_id, revision, attempts, credits_millis, cached, started_at)
        select org_id, sheet_id, row_id, 'paid_1', 'failed', gen_random_uuid(), 1, 1, 0, false, now() from flights
        where org_id = $1 and row_id = any($2)`,
      values: [sheet.org.orgId, jobs.slice(0, 3).map(({ r }) => r)],
    })
    const settle = () =>
      Promise.all(flights.map((flight) => old.settle(flight, complete(flight, null, PRICE))))
    expect(await settle()).not.toContain(null)
    expect((await sheet.cells()).filter(({ status }) => status === 'complete')).toHaveLength(10)
    expect(new Set(await settle())).toEqual(new Set([null]))
    await expectPaid(sheet, 10)
  })
})

describe('a batch of rows of several runs, of several organisations', () => {
  const ends: [string, string | null][] = [
    ['in the middle of their chains', 'paid_2'],
    ['that are all finished', null],
  ]
  it.each(ends)(
    '%s: each is written where it belongs, but for those that were taken over',
    async (_, next) => {
      const sheets = await Promise.all([makePaidSheet(app, 5), makePaidSheet(app, 5), makePaidSheet(app, 5)])
      const jobs = await Promise.all(sheets.map((sheet) => sheet.jobs()))
      // The runs take turns, so that no flight is of the group of the one before.
      const mixed = jobs[0]?.flatMap((_job, n) => jobs.map((own) => must(own[n]))) ?? []
      const flights = await Promise.all(mixed.map((job) => claimAndReserve(old, reservations, job)))
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
    const sheet = await makePaidSheet(app, 20)
    const flights = await Promise.all(
      (await sheet.jobs()).map((job) => claimAndReserve(old, reservations, job)),
    )
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
