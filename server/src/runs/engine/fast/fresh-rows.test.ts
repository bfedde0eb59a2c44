import { expect, it } from 'vitest'
import type { Engine } from '../engine-context.ts'
import type { FlightStore } from '../flights/flight-store.ts'
import type { RowJob, RunFacts } from '../flights/flight.ts'
import { faultCatalogue } from '../testing/fault-catalogue.ts'
import {
  type FlightSheet,
  makeFlightApp,
  makeFlightSheet,
  makeFlightStore,
  must,
} from '../testing/flight-store-fixture.ts'
import { makeEngine } from '../testing/test-engine.ts'
import { walkGroup } from './fresh-rows.ts'

const app = await makeFlightApp()
const other = makeFlightStore(app, 2)

/** The balance in thousandths. */
const BALANCE = 100_000
const PRICE = 1.5

type Changes = { settleAll?: FlightStore['settleAll']; credits?: number; run?: (call: number) => void }

/** Makes an engine that knows the run to be of pure actions, and notes what it sends. */
function watched(jobs: readonly RowJob[], { settleAll, credits = 0, run }: Changes = {}) {
  const plain = makeEngine(app)
  const notes: string[] = []
  const flights: FlightStore = {
    ...plain.flights,
    claim(job, how) {
      notes.push(how?.resumed === true ? 'claim again' : 'claim')
      return plain.flights.claim(job, how)
    },
    peekAll(some) {
      notes.push(`peek at ${some.length}`)
      return plain.flights.peekAll(some)
    },
    settleAll(given, express) {
      notes.push(`settle ${given.length}`)
      const isClaimed = given.some(({ flight }) => flight.fence.attempt > 0)
      return settleAll === undefined || isClaimed
        ? plain.flights.settleAll(given, express)
        : settleAll(given, express)
    },
  }
  let calls = 0
  const pure = must(faultCatalogue.get('pure'))
  const watchedPure: typeof pure = {
    ...pure,
    credits,
    run(args) {
      run?.((calls += 1))
      return pure.run(args)
    },
  }
  const catalogue = {
    ...faultCatalogue,
    get: (id: string) => (id === 'pure' ? watchedPure : faultCatalogue.get(id)),
  }
  const settingOf = async (of: RunFacts) => ({ ...(await plain.settingOf(of)), catalogue })
  const engine: Engine = { ...plain, flights, settingOf }
  engine.pureRuns.add(must(jobs[0]))
  return { engine, notes, plain }
}

async function enqueue(chain: string[], rows: number, millis = 0) {
  const sheet = await makeFlightSheet(app, chain, millis)
  await sheet.addRows(rows)
  await sheet.run()
  return { sheet, jobs: await sheet.jobs() }
}

async function expectDone(sheet: FlightSheet, cells: number): Promise<void> {
  expect((await sheet.cells()).map(({ status }) => status)).toEqual(
    Array.from({ length: cells }, () => 'complete'),
  )
  expect(await sheet.flights()).toEqual([])
}

it('rows of pure actions are looked at, computed and settled together', async () => {
  const { sheet, jobs } = await enqueue(['pure', 'pure'], 20)
  const { engine, notes } = watched(jobs)
  await walkGroup(engine, jobs)
  expect(notes).toEqual(['peek at 20', 'settle 20'])
  await expectDone(sheet, 40)
})

async function expectCharged(engine: Engine, sheet: FlightSheet, cells: number): Promise<void> {
  await engine.reservations.flush()
  const left = BALANCE - cells * PRICE * 1000
  expect(await sheet.accounts()).toEqual({ credits: left, held: 0, leases: 0, ledger: left, charges: cells })
}

it('rows of priced actions that wait for credits are settled together, and each cell is charged once', async () => {
  const { sheet, jobs } = await enqueue(['pure', 'pure'], 20, BALANCE)
  const { engine, notes } = watched(jobs, { credits: PRICE })
  await walkGroup(engine, jobs)
  const [first, ...settlements] = notes
  const sizes = settlements.map((note) => Number(/^settle (\d+)$/.exec(note)?.[1]))
  expect([first, sizes.reduce((sum, size) => sum + size, 0)]).toEqual(['peek at 20', 20])
  // One by one there would be twenty statements.
  expect(sizes.length).toBeLessThan(8)
  await expectDone(sheet, 40)
  await expectCharged(engine, sheet, 40)
})

it('rows of a run that is not known to be pure are claimed one by one', async () => {
  const { sheet, jobs } = await enqueue(['pure', 'free'], 3)
  const { engine, notes } = watched(jobs)
  engine.pureRuns.remove(must(jobs[0]))
  await walkGroup(engine, jobs)
  expect(notes.filter((note) => note === 'claim')).toHaveLength(3)
  expect(notes).not.toContain('peek at 3')
  await expectDone(sheet, 6)
})

it.each([
  ['looked at together, once one of its first rows was found to be of such', true, 'peek at 3'],
  ['claimed one by one, once one of its first rows was found not to be', false, 'claim'],
])('rows of a run that nothing is known of yet are %s', async (_how, isPure, begins) => {
  const { sheet, jobs } = await enqueue(['pure', 'pure'], 3)
  const { engine, notes } = watched(jobs)
  const first = must(jobs[0])
  engine.pureRuns.remove(first)
  const [endOne, endOther] = [engine.pureRuns.lookAt(first), engine.pureRuns.lookAt(first)]
  const walking = walkGroup(engine, jobs)
  await new Promise((resolve) => setImmediate(resolve))
  expect(notes).toEqual([])
  if (isPure) engine.pureRuns.add(first)
  endOne()
  await walking
  expect(notes[0]).toBe(begins)
  await expectDone(sheet, 6)
  endOther()
  expect(engine.pureRuns.whenKnown(first)).toBeUndefined()
})

it('rows of a run that was wrongly taken for pure are claimed after all', async () => {
  const { sheet, jobs } = await enqueue(['pure', 'free'], 3)
  const { engine, notes } = watched(jobs)
  await walkGroup(engine, jobs)
  expect(notes.slice(0, 4)).toEqual(['peek at 3', 'claim', 'claim', 'claim'])
  expect(engine.pureRuns.has(must(jobs[0]))).toBe(false)
  await expectDone(sheet, 6)
})

it('D25: rows whose cells are all in the cache are settled together, and the others by themselves', async () => {
  const sheet = await makeFlightSheet(app, [], 0)
  const step = { action_id: 'pure', inputs: {} }
  await sheet.org.call('PATCH', sheet.base, { cache_enabled: true })
  for (const one of [step, step]) await sheet.org.call('POST', `${sheet.base}/actions/add`, one)
  await sheet.addRows(4)
  await sheet.run()
  const filling = await sheet.jobs()
  await walkGroup(watched(filling).engine, filling)
  await expectDone(sheet, 8)

  await sheet.run()
  const jobs = await sheet.jobs()
  const { engine, notes } = watched(jobs, {
    run: () => {
      throw new Error('it is in the cache')
    },
  })
  await walkGroup(engine, jobs)
  expect(notes).toEqual(['peek at 4', 'settle 4'])
  await expectDone(sheet, 8)

  await app.store.query({ text: `delete from cell_cache where action = 'pure_2'` })
  await sheet.run()
  const again = await sheet.jobs()
  const missing = watched(again)
  await walkGroup(missing.engine, again)
  expect(missing.notes).not.toContain('settle 4')
  await expectDone(sheet, 8)
  expect(await app.store.query({ text: 'select from cell_claims' })).toEqual([])
})

it('a row that another worker has claimed is left to it, and the rest finish', async () => {
  const { sheet, jobs } = await enqueue(['pure'], 4)
  const { engine, plain } = watched(jobs, {
    async settleAll(given) {
      await other.claim(must(jobs[1]))
      return plain.flights.settleAll(given)
    },
  })
  await expect(walkGroup(engine, jobs)).rejects.toThrow('another worker has taken over the row')
  expect((await sheet.cells()).map(({ row_id }) => row_id)).toEqual([0, 2, 3].map((n) => must(jobs[n]).r))
  expect(await sheet.flights()).toMatchObject([{ row_id: must(jobs[1]).r, attempt: 1 }])
})

it('an action that throws on one row does not keep the others from finishing', async () => {
  const { sheet, jobs } = await enqueue(['pure'], 4)
  const { engine } = watched(jobs, {
    run: (call) => {
      if (call === 2) throw Object.assign(new Error('out of memory'), { code: 'ERR_BROKEN' })
    },
  })
  await walkGroup(engine, jobs)
  const statuses = (await sheet.cells()).map(({ status }) => status)
  expect(statuses.filter((status) => status === 'complete')).toHaveLength(3)
  expect(await sheet.flights()).toEqual([])
})

it.each([
  { isWritten: false, credits: 0 },
  { isWritten: true, credits: 0 },
  { isWritten: false, credits: PRICE },
  { isWritten: true, credits: PRICE },
])(
  'after an outage rows are claimed again, and paid once (written before it: $isWritten; price: $credits)',
  async ({ isWritten, credits }) => {
    const { sheet, jobs } = await enqueue(['pure', 'pure'], 3, BALANCE)
    const { engine, notes, plain } = watched(jobs, {
      credits,
      async settleAll(given) {
        if (isWritten) await plain.flights.settleAll(given)
        throw Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' })
      },
    })
    await walkGroup(engine, jobs)
    expect(notes.slice(0, 5)).toEqual(['peek at 3', 'settle 3', 'claim again', 'claim again', 'claim again'])
    await expectDone(sheet, 6)
    await expectCharged(engine, sheet, credits === 0 ? 0 : 6)
  },
)
