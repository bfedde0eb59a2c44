import { expect, it } from 'vitest'
import { createLog } from '#server/lib/log.ts'
import { PRICE } from '../testing/fault-catalogue.ts'
import { makeFlightApp, makeFlightSheet, makeFlightStore, must } from '../testing/flight-store-fixture.ts'
import { type Held, Reservations } from './reservations.ts'

const app = await makeFlightApp()
const store = makeFlightStore(app)
const NEED = { more: PRICE, total: PRICE }

/** Starts a run of some rows in an organisation that can pay for `payable` of them. */
async function startRun(rows: number, payable: number) {
  const sheet = await makeFlightSheet(app, ['paid'], payable * PRICE)
  const ids = await sheet.addRows(rows)
  await sheet.run()
  const { facts } = must(await store.claim(must((await sheet.jobs())[0])))
  return { facts, ids }
}

const holdOf = (answer: Held) => must('reservation' in answer ? answer.reservation : null)

it('D93: of rows that ask at the same time, the last ones get no credits', async () => {
  const { facts, ids } = await startRun(5, 3)
  const keeper = new Reservations(app.store, createLog('silent'), 0)
  const asked = ids.toReversed().map(async (id): Promise<[string, boolean]> => {
    return [id, 'reservation' in (await keeper.reserve(facts, null, NEED, id))]
  })
  const held = new Map(await Promise.all(asked))
  expect(ids.map((id) => held.get(id))).toEqual([true, true, true, false, false])
})

it('a cell that waits for credits held by others goes on when their reservation ends, in the order of rows', async () => {
  const { facts, ids } = await startRun(4, 1)
  // No cell is refused for waiting too long.
  const keeper = new Reservations(app.store, createLog('silent'), 600_000)
  const [first = '', ...others] = ids
  let reservation = holdOf(await keeper.reserve(facts, null, NEED, first))
  const order: string[] = []
  const waiting = others.toReversed().map(async (id) => {
    const next = holdOf(await keeper.reserve(facts, null, NEED, id))
    order.push(id)
    return next
  })
  for (const [n] of others.entries()) {
    // The rows ask, have to wait, and do.
    await expect.poll(() => reservation.leases.ends.waiting).toBe(others.length - n)
    keeper.spend(reservation, 0)
    reservation = await Promise.any(waiting.splice(others.length - 1 - n, 1))
  }
  expect(order).toEqual(others)
  keeper.spend(reservation, 0)
})

it('a cell that waits too long in place is refused for now', async () => {
  const { facts, ids } = await startRun(2, 1)
  const keeper = new Reservations(app.store, createLog('silent'), 10)
  await keeper.reserve(facts, null, NEED, must(ids[0]))
  expect(await keeper.reserve(facts, null, NEED, must(ids[1]))).toMatchObject({ refusal: { isFinal: false } })
})
