import { expect, it } from 'vitest'
import type { Engine } from './engine-context.ts'
import { walkGroup } from './fast/fresh-rows.ts'
import type { FlightStore } from './flights/flight-store.ts'
import type { RowJob, RunFacts } from './flights/flight.ts'
import { faultCatalogue } from './testing/fault-catalogue.ts'
import {
  complete,
  type FlightSheet,
  makeFlightStore,
  makeFlightSheet,
  makeFlightApp,
  makeReservations,
  must,
  withPosition,
} from './testing/flight-store-fixture.ts'
import { makeEngine } from './testing/test-engine.ts'
import { walkRow } from './walk.ts'

const app = await makeFlightApp()
const old = makeFlightStore(app, 1)
const fresh = makeFlightStore(app, 2)

async function enqueue(
  chain: string[],
  rows: number,
  millis = 0,
): Promise<{ sheet: FlightSheet; jobs: RowJob[] }> {
  const sheet = await makeFlightSheet(app, chain, millis)
  await sheet.addRows(rows)
  await sheet.run()
  return { sheet, jobs: await sheet.jobs() }
}

/**
 * Makes an engine that notes what it does: claims, peeks, cells that are written together, and calls of actions that
 * are not pure. Pure actions cost `credits`.
 */
function watched(credits = 0): { engine: Engine; notes: string[] } {
  const plain = makeEngine(app)
  const notes: string[] = []
  const flights: FlightStore = {
    ...plain.flights,
    async claim(job, how) {
      notes.push('claim')
      return plain.flights.claim(job, how)
    },
    async peekAll(jobs) {
      notes.push('peek')
      return plain.flights.peekAll(jobs)
    },
    async settleAll(given, express) {
      const answers = await plain.flights.settleAll(given, express)
      for (const { settlement } of given)
        notes.push(`settled ${settlement.cells.map((cell) => cell.action).join(' ')}`)
      return answers
    },
  }
  const free = must(faultCatalogue.get('free'))
  const noted: typeof free = {
    ...free,
    run(args) {
      notes.push('free runs')
      return free.run(args)
    },
  }
  const pure = { ...must(faultCatalogue.get('pure')), credits }
  const known = new Map([noted, pure].map((action) => [action.id, action]))
  const catalogue = { ...faultCatalogue, get: (id: string) => known.get(id) ?? faultCatalogue.get(id) }
  const settingOf = async (run: RunFacts) => ({ ...(await plain.settingOf(run)), catalogue })
  return { engine: { ...plain, flights, settingOf }, notes }
}

const cellsOf = async (sheet: FlightSheet) =>
  (await sheet.cells()).map(({ action, status }) => `${action} ${status}`)

it('cells of pure actions are written together; any other action starts when all before it is durable', async () => {
  const { sheet, jobs } = await enqueue(['pure', 'pure', 'free', 'pure', 'free', 'free'], 1)
  const { engine, notes } = watched()
  await walkGroup(engine, [must(jobs[0])])
  expect(notes).toEqual([
    'claim',
    'settled pure_1 pure_2',
    'free runs',
    'settled free_1',
    'settled pure_3',
    'free runs',
    'settled free_2',
    'free runs',
    'settled free_3',
  ])
  expect(await cellsOf(sheet)).toHaveLength(6)
  expect(await sheet.flights()).toEqual([])
})

it('rows of a run of pure actions only are not claimed for them', async () => {
  const { sheet, jobs } = await enqueue(['pure', 'pure'], 2)
  const { engine, notes } = watched()
  for (const job of jobs) await walkGroup(engine, [job])
  expect(notes).toEqual(['claim', 'settled pure_1 pure_2', 'peek', 'settled pure_1 pure_2'])
  expect(await cellsOf(sheet)).toHaveLength(4)
  expect(await sheet.flights()).toEqual([])
})

it('P18: nor are they if the actions cost credits, and each cell is charged once', async () => {
  const { sheet, jobs } = await enqueue(['pure', 'pure'], 3, 100_000)
  const { engine, notes } = watched(1.5)
  for (const job of jobs) await walkGroup(engine, [job])
  const settled = 'settled pure_1 pure_2'
  expect(notes).toEqual(['claim', settled, 'peek', settled, 'peek', settled])
  expect((await sheet.cells()).map(({ credits }) => credits)).toEqual([1500, 1500, 1500, 1500, 1500, 1500])
  await engine.reservations.flush()
  const left = 100_000 - 6 * 1500
  expect(await sheet.accounts()).toEqual({ credits: left, held: 0, leases: 0, ledger: left, charges: 6 })
})

it('M6: a row of priced pure actions ends where the credits end, and keeps the cells they paid for', async () => {
  const { sheet, jobs } = await enqueue(['pure', 'pure', 'pure'], 3, 5000)
  const { engine } = watched(1)
  for (const job of jobs) await walkGroup(engine, [job])
  // What the process has reserved beyond its needs is missing until it is given back.
  while ((await sheet.flights()).length > 0) {
    await engine.reservations.tick()
    for (const job of await sheet.jobs()) await walkRow(engine, job)
  }
  expect((await cellsOf(sheet)).map((cell) => cell.replace('pure_', ''))).toEqual([
    '1 complete',
    '2 complete',
    '3 complete',
    '1 complete',
    '2 complete',
    '3 out_of_credits',
    '1 out_of_credits',
  ])
  await engine.reservations.flush()
  expect(await sheet.accounts()).toEqual({ credits: 0, held: 0, leases: 0, ledger: 0, charges: 5 })
})

it('D27: identical priced cells of a run are computed and paid once', async () => {
  const sheet = await makeFlightSheet(app, ['pure', 'pure'], 10_000)
  await sheet.org.call('PATCH', sheet.base, { cache_enabled: true })
  await sheet.addRows(4)
  await sheet.run()
  const { engine } = watched(1)
  const jobs = await sheet.jobs()
  await Promise.all(jobs.map((job) => walkGroup(engine, [job])))
  expect(await cellsOf(sheet)).toHaveLength(8)
  await engine.reservations.flush()
  expect(await sheet.accounts()).toMatchObject({ credits: 8000, held: 0, charges: 2 })
})

it('the first rows of a run are claimed, because they do not wait for bulk rows', async () => {
  const { sheet, jobs } = await enqueue(['pure', 'pure'], 2)
  const { engine, notes } = watched()
  for (const job of jobs) await walkRow(engine, job, { fresh: true, express: true })
  expect(notes).toEqual(['claim', 'settled pure_1 pure_2', 'claim', 'settled pure_1 pure_2'])
  expect(await sheet.flights()).toEqual([])
})

it('rows are claimed if a worker has claimed them before, or other actions follow', async () => {
  const { sheet, jobs } = await enqueue(['pure', 'pure'], 2)
  const { engine, notes } = watched()
  await walkGroup(engine, [must(jobs[0])])
  await old.claim(must(jobs[1]))
  await walkGroup(engine, [must(jobs[1])])
  expect(notes.slice(2)).toEqual(['peek', 'claim', 'settled pure_1', 'settled pure_2'])
  expect(await sheet.flights()).toEqual([])

  const mixed = await enqueue(['pure', 'free'], 2)
  notes.length = 0
  for (const job of mixed.jobs) await walkGroup(engine, [job])
  const each = ['claim', 'settled pure_1', 'free runs', 'settled free_1']
  expect(notes).toEqual([...each, ...each])
  expect(await cellsOf(mixed.sheet)).toHaveLength(4)
})

it('a row that may have ended its worker goes cell by cell', async () => {
  const { jobs } = await enqueue(['pure', 'pure'], 1)
  const { engine, notes } = watched()
  await old.claim(must(jobs[0]))
  await walkRow(engine, must(jobs[0]))
  expect(notes).toEqual(['claim', 'settled pure_1', 'settled pure_2'])
})

it('D25: results from the cache are written together, and other cells start when all before them is durable', async () => {
  const sheet = await makeFlightSheet(app, ['free', 'free'], 0)
  await sheet.org.call('PATCH', sheet.base, { cache_enabled: true })
  await sheet.addRows(4)
  const { engine, notes } = watched()
  await sheet.run({ kind: 'all' }, ['free_1'])
  for (const job of await sheet.jobs()) await walkGroup(engine, [job])
  expect(notes.slice(0, 3)).toEqual(['claim', 'free runs', 'settled free_1'])
  expect(notes.filter((note) => note === 'free runs')).toHaveLength(1)

  await sheet.run()
  const [first, second, third, fourth] = await sheet.jobs()
  const walk = async (job: RowJob | undefined) => {
    notes.length = 0
    await walkGroup(engine, [must(job)])
    return [...notes]
  }
  const called = ['claim', 'settled free_1', 'free runs', 'settled free_2']
  expect(await walk(first)).toEqual(called)
  expect(await walk(second)).toEqual(['claim', 'settled free_1 free_2'])
  expect(await walk(third)).toEqual(['peek', 'settled free_1 free_2'])
  await app.store.query({ text: `delete from cell_cache where action = 'free_2'` })
  expect(await walk(fourth)).toEqual(['peek', ...called])
  expect(await cellsOf(sheet)).toHaveLength(8)
  expect(await sheet.flights()).toEqual([])
  const claims = await app.store.query({ text: 'select from cell_claims' })
  expect(claims).toEqual([])
})

it('a worker that only peeked at a row writes nothing once another has claimed it, or it was stopped', async () => {
  const { sheet, jobs } = await enqueue(['pure', 'pure'], 2, 10_000)
  const [claimed, stopped] = await Promise.all(jobs.map(async (job) => must((await old.peekAll([job]))[0])))
  expect(must(claimed).fence.attempt).toBe(0)
  await fresh.claim(must(jobs[0]))
  expect((await old.peekAll([must(jobs[0])]))[0]).toBeNull()
  const keeper = makeReservations(app)
  const held = await keeper.reserve(must(claimed).facts, null, { more: 1000, total: 1000 })
  if (!('reservation' in held)) throw new Error('expected a reservation')
  const paying = withPosition(must(claimed), { reservation: held.reservation, heldMillis: 1000 })
  expect(await old.settle(paying, complete(paying, null, 1000))).toBeNull()
  keeper.spend(held.reservation, 0)
  await keeper.flush()
  expect(await sheet.stop()).toBe(2)
  expect(await old.settle(must(stopped), complete(must(stopped), null))).toBeNull()
  expect(await sheet.cells()).toEqual([])
  expect(await sheet.accounts()).toMatchObject({ credits: 10_000, held: 0, charges: 0 })
})

it('a worker that claims a row which another has computed without a claim goes on after its cells', async () => {
  const { sheet, jobs } = await enqueue(['pure', 'free'], 1)
  const seen = must((await old.peekAll([must(jobs[0])]))[0])
  expect(await old.settle(seen, complete(seen, 'free_1'))).toEqual({ runState: 'running' })
  expect(await fresh.claim(must(jobs[0]))).toMatchObject({
    fence: { attempt: 1 },
    position: { action: 'free_1', stalledClaims: 1 },
  })
  expect(await old.settle(seen, complete(seen, 'free_1'))).toBeNull()
  expect(await cellsOf(sheet)).toEqual(['pure_1 complete'])
})

it('a row that lost its fence does not fail the rest of its batch', async () => {
  const { sheet, jobs } = await enqueue(['free', 'free'], 6)
  const flights = await Promise.all(jobs.map(async (job) => must(await old.claim(job))))
  for (const n of [0, 3]) await fresh.claim(must(jobs[n]))
  const answers = await Promise.all(flights.map((flight) => old.settle(flight, complete(flight, 'free_2'))))
  expect(answers.map((answer) => answer === null)).toEqual([true, false, false, true, false, false])
  expect((await sheet.cells()).map((cell) => cell.row_id)).toEqual(
    jobs.filter((_, n) => n !== 0 && n !== 3).map((job) => job.r),
  )
})

it('P15: cells that depend on inputs of the row alone are looked up in the cache together, others in their turn', async () => {
  const onFirst = {
    conditions: [{ conditions: [{ variable: '{{pure_1.value}}', operator: 'is', values: ['x'] }] }],
  }
  const conditional = { action_id: 'pure', inputs: {}, run_if: onFirst }
  const sheet = await makeFlightSheet(app, ['pure', 'pure', conditional, 'pure'], 0)
  await sheet.org.call('PATCH', sheet.base, { cache_enabled: true })
  await sheet.addRows(1)
  await sheet.run()
  const [job] = await sheet.jobs()
  const { engine } = watched()
  const asked: string[] = []
  const cache: Engine['cache'] = {
    look(cells, express) {
      asked.push(...cells.map(({ action }) => `look ${action}`))
      return engine.cache.look(cells, express)
    },
    find(flight, instance, ...rest) {
      asked.push(`find ${instance.id}`)
      return engine.cache.find(flight, instance, ...rest)
    },
  }
  await walkGroup({ ...engine, cache }, [must(job)])
  expect(asked.slice(0, 4)).toEqual(['look pure_1', 'look pure_2', 'look pure_4', 'find pure_1'])
  expect(asked).not.toContain('look pure_3')
})
