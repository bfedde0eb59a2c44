import { describe, expect, it } from 'vitest'
import { done, failed } from '#server/catalog/outcome.ts'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { makePaidSheet, paidAction } from '#test/builders/paid-action.ts'
import { type Json, makeApp, type TestOrg } from '#test/plumbing/harness.ts'
import { startTestWorker } from '#test/plumbing/worker.ts'
import type { Flight } from './flights/flight.ts'
import { PRICE } from './testing/fault-catalogue.ts'
import {
  claimAndReserve,
  complete,
  makeFlightApp,
  makeFlightSheet,
  makeFlightStore,
  makeReservations,
  must,
} from './testing/flight-store-fixture.ts'

const GRANTED = 1000
let gate = Promise.withResolvers<void>()
let calls = 0

/** An action that costs two credits, and answers when the test lets it. */
const paid = paidAction(async (text) => {
  calls += 1
  if (text !== 'soon') await gate.promise
  return text === 'bad' ? failed('it was bad') : done({ value: text })
})

const app = await makeApp({ services: { catalogue: catalogueOf(paid) } })
await startTestWorker(app)

type World = { org: TestOrg; base: string; ids: string[]; runId: string }

/** Starts rows, each of which has its paid call under way. */
async function startCalls(texts: string[]): Promise<World> {
  gate = Promise.withResolvers()
  calls = 0
  const org = await app.makeOrg()
  const base = await makePaidSheet(org)
  const rows = texts.map((x) => ({ x }))
  const added = await org.call('POST', `${base}/rows`, { rows, run_after_add: 'all' })
  await expect.poll(() => calls).toBe(texts.length)
  return { org, base, ids: added.body.data.row_ids, runId: String(added.headers['x-run-id']) }
}

const chargesOf = async (org: TestOrg): Promise<Json[]> =>
  (await org.call('GET', '/credits/ledger?type=charge')).body.data.entries

/** Expects books that agree: what is left, what the ledger says, and that nothing is held any more. */
async function expectBooks(org: TestOrg, spent: number): Promise<void> {
  await expect
    .poll(async () => {
      const { balance, held } = (await org.call('GET', '/credits')).body.data
      return [balance, held]
    })
    .toEqual([GRANTED - spent, 0])
  const { entries } = (await org.call('GET', '/credits/ledger')).body.data
  expect(entries.reduce((sum: number, entry: Json) => sum + entry.amount, 0)).toBe(GRANTED - spent)
  const text = `select held_millis - (select coalesce(sum(granted_millis), 0) from purse_shares where org_id = $1)::bigint as unshared
    from organisations where org_id = $1`
  await expect
    .poll(async () => (await app.store.query({ text, values: [org.orgId] }))[0])
    .toEqual({ unshared: 0 })
}

const REMOVALS: [string, (world: World) => Promise<unknown>][] = [
  ['Delete All', ({ org, base }) => org.call('POST', `${base}/rows/delete-all`)],
  ['Delete Rows', ({ org, base, ids }) => org.call('POST', `${base}/rows/delete`, { row_ids: ids })],
  ['Delete Workflow', ({ org, base }) => org.call('DELETE', base.split('/sheets')[0] ?? '')],
]

const flightApp = await makeFlightApp()

describe('F67: a call that was made is charged, whatever happened to its row', () => {
  it.each(REMOVALS)(
    '%s while paid calls run: each is charged once, and rows stay gone',
    async (_, remove) => {
      const world = await startCalls(['a', 'b', 'c', 'bad'])
      const { org, ids } = world
      const began = performance.now()
      expect(await remove(world)).toMatchObject({ status: 200 })
      // The removal does not wait: the calls are still open.
      expect(performance.now() - began).toBeLessThan(30_000)
      expect(await chargesOf(org)).toEqual([])
      gate.resolve()
      await expect.poll(async () => (await chargesOf(org)).length).toBe(3)
      await expectBooks(org, 6)
      const charges = await chargesOf(org)
      expect(new Map(charges.map(({ row_id, amount, result }) => [row_id, { amount, result }]))).toEqual(
        new Map(['a', 'b', 'c'].map((value, n) => [ids[n], { amount: -2, result: { value } }])),
      )
      expect(charges[0]).toMatchObject({
        action_instance_id: 'paid_1',
        action_id: 'paid',
        run_id: world.runId,
      })
      expect(calls).toBe(4)
    },
  )

  it('a row that is stopped and run again: both calls are charged, and the later one has the cell', async () => {
    const world = await startCalls(['a'])
    const { org, base, ids } = world
    expect((await org.call('POST', `${base}/stop`)).status).toBe(200)
    const first = gate
    const again = await org.call('POST', `${base}/run`, { row_ids: ids })
    expect(again.body.data).toEqual({ rows_queued: 1 })
    await expect.poll(() => calls).toBe(2)
    first.resolve()
    await expect.poll(async () => (await chargesOf(org)).length).toBe(2)
    await expectBooks(org, 4)
    const charges = await chargesOf(org)
    const late = charges.filter(({ run_id }) => run_id === world.runId)
    expect(late.map(({ result }) => result)).toEqual([{ value: 'a' }])
    const runs: Json[] = (await org.call('GET', `${base}/runs`)).body.data
    expect(runs.map(({ credits }) => credits)).toEqual([2, 2])
    const cell = (await org.call('GET', `${base}/rows/${ids[0]}/cells/paid_1`)).body.data
    expect(cell.provenance.run_id).toBe(again.headers['x-run-id'])
  })

  it('a worker overtaken before posts nothing, and the worker of the last call posts its charge once', async () => {
    const sheet = await makeFlightSheet(flightApp, ['paid'], 4 * PRICE)
    const store = makeFlightStore(flightApp)
    const reservations = makeReservations(flightApp)
    const [row] = await sheet.addRows(1)
    await sheet.run()
    const job = must((await sheet.jobs())[0])
    const overtaken = await claimAndReserve(store, reservations, job)
    const last = await claimAndReserve(store, reservations, job)
    const late = (flight: Flight) => ({ flight, settlement: complete(flight, null, PRICE) })
    expect(await store.chargeLate(late(last))).toBe(false)
    await sheet.org.call('POST', `${sheet.base}/rows/delete`, { row_ids: [row] })
    for (const flight of [overtaken, last])
      expect(await store.settle(flight, complete(flight, null, PRICE))).toBe(null)
    expect(await store.chargeLate(late(overtaken))).toBe(false)
    expect(await store.chargeLate(late(last))).toBe(true)
    expect(await store.chargeLate(late(last))).toBe(false)
    for (const [flight, millis] of [
      [overtaken, 0],
      [last, PRICE],
    ] as const)
      reservations.spend(must(flight.position.reservation), millis)
    expect(await sheet.accounts()).toMatchObject({ credits: 3 * PRICE, ledger: 3 * PRICE, charges: 1 })
    await reservations.flush()
    expect(await sheet.accounts()).toMatchObject({ held: 0, leases: 0 })
  })
})
