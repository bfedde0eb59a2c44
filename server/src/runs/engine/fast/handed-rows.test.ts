import { beforeEach, expect, it } from 'vitest'
import { type Db, inTransaction } from '#server/database/connection/db.ts'
import { createLog } from '#server/lib/log.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { startRun } from '#server/runs/queue.ts'
import type { FlightStore } from '../flights/flight-store.ts'
import { type FlightSheet, makeFlightApp, makeFlightSheet } from '../testing/flight-store-fixture.ts'
import { makeEngine } from '../testing/test-engine.ts'
import { HandedRowTaker } from './handed-rows.ts'

const app = await makeFlightApp()
const ending = new AbortController()
const plain = makeEngine(app, ending.signal)
const notes: string[] = []
let settles: FlightStore['settleAll']
const settleAsEver: typeof settles = (...given) => plain.flights.settleAll(...given)
const flights: FlightStore = {
  ...plain.flights,
  async claim(job, how) {
    notes.push('claim')
    return plain.flights.claim(job, how)
  },
  settleAll: (...given) => settles(...given),
}
const ids = { added: [] as string[], retired: [] as string[] }
const handed = new HandedRowTaker({
  store: app.store,
  engine: { ...plain, flights },
  log: createLog('silent'),
  workerIds: { add: (id) => void ids.added.push(id), retire: (id) => void ids.retired.push(id) },
  handOver: app.store.handOver,
})
// No pool is at work here: it would have registered the task.
await app.store.query({
  text: `insert into graphile_worker._private_tasks (identifier) values ('row_express') on conflict do nothing`,
})

type StoredJob = { locked_by: string | null; attempts: number }
const jobsOf = ({ org }: FlightSheet) =>
  app.store.query<StoredJob>({
    text: `select locked_by, attempts from graphile_worker._private_jobs where payload->>'o' = $1 order by id`,
    values: [org.orgId],
  })

async function makeRows(chain: string[], count: number): Promise<FlightSheet> {
  const sheet = await makeFlightSheet(app, chain, 0)
  await sheet.addRows(count)
  return sheet
}

const runAll = async (sheet: FlightSheet, actions: string[], then?: (trx: Db) => Promise<void>) => {
  const record = await sheet.record()
  await inTransaction(app.store.org(sheet.org.orgId), async (trx) => {
    await startRun(trx, OPERATOR, { sheet: record, actions, rows: { kind: 'all' }, trigger: 'api' })
    await then?.(trx)
  })
}
const statuses = async (sheet: FlightSheet) => (await sheet.cells()).map(({ status }) => status)

beforeEach(() => {
  notes.length = 0
  settles = settleAsEver
})

it('P2: a row is walked by the worker of the process that queued it; a row of pure actions is not even claimed', async () => {
  const sheet = await makeRows(['pure', 'pure'], 1)
  await runAll(sheet, ['pure_1', 'pure_2'])
  await expect.poll(() => statuses(sheet)).toEqual(['complete', 'complete'])
  await expect.poll(() => jobsOf(sheet)).toEqual([])
  expect(await sheet.flights()).toEqual([])
  expect(notes).toEqual([])
})

it('the first rows show whether a run is pure before they are settled, so that its groups can wait for it', async () => {
  const known: boolean[] = []
  const sheet = await makeRows(['pure', 'pure'], 1)
  settles = (given, ...rest) => {
    for (const { flight } of given) {
      const { org_id: o, run_id: run } = flight.facts
      const job = { o, r: flight.row.id, t: flight.fence.ticket, run }
      known.push(plain.pureRuns.has(job), plain.pureRuns.whenKnown(job) === undefined)
    }
    return settleAsEver(given, ...rest)
  }
  await runAll(sheet, ['pure_1', 'pure_2'])
  await expect.poll(() => statuses(sheet)).toEqual(['complete', 'complete'])
  expect(known).toEqual([true, true])
})

it('a row that calls a server is claimed first, and has the results of another run', async () => {
  const sheet = await makeRows(['pure', 'free'], 2)
  await runAll(sheet, ['pure_1'])
  await expect.poll(() => statuses(sheet)).toEqual(['complete', 'complete'])
  await runAll(sheet, ['free_1'])
  await expect.poll(async () => (await statuses(sheet)).length).toBe(4)
  expect(new Set(await statuses(sheet))).toEqual(new Set(['complete']))
  expect(notes).toEqual(['claim', 'claim'])
  await expect.poll(() => jobsOf(sheet)).toEqual([])
})

it('rows beyond the first are queued for the pools', async () => {
  const sheet = await makeRows(['pure'], 20)
  await runAll(sheet, ['pure_1'])
  await expect.poll(async () => (await statuses(sheet)).length).toBe(16)
  await expect
    .poll(() => jobsOf(sheet))
    .toEqual(Array.from({ length: 4 }, () => ({ locked_by: null, attempts: 0 })))
})

it('a transaction that fails hands nothing over; its worker id is retired, in case unknown jobs are locked by it', async () => {
  const sheet = await makeRows(['pure'], 1)
  const before = ids.added.at(-1)
  const fail = () => Promise.reject(new Error('the caller thought better of it'))
  await expect(runAll(sheet, ['pure_1'], fail)).rejects.toThrow('thought better')
  await expect.poll(() => ids.retired).toContain(before)
  expect(ids.added.at(-1)).not.toBe(before)
  expect([await sheet.flights(), await jobsOf(sheet), await statuses(sheet)]).toEqual([[], [], []])
  await runAll(sheet, ['pure_1'])
  await expect.poll(() => statuses(sheet)).toEqual(['complete'])
})

it('a row that cannot be walked is given back to the queue', async () => {
  settles = () => Promise.reject(new Error('no statement today'))
  const sheet = await makeRows(['pure'], 1)
  await runAll(sheet, ['pure_1'])
  await expect.poll(() => jobsOf(sheet)).toEqual([{ locked_by: null, attempts: 1 }])
  expect(await sheet.flights()).toHaveLength(1)
})

it('while a worker is full, and after it has stopped, jobs wait for any pool', async () => {
  const gate = Promise.withResolvers<void>()
  settles = async (...given) => {
    await gate.promise
    return plain.flights.settleAll(...given)
  }
  const sheets: FlightSheet[] = []
  for (let n = 0; n < 5; n += 1) {
    const sheet = await makeRows(['pure'], 16)
    await runAll(sheet, ['pure_1'])
    sheets.push(sheet)
  }
  const locked = await Promise.all(
    sheets.map(async (sheet) => (await jobsOf(sheet)).filter((job) => job.locked_by === ids.added.at(-1))),
  )
  expect(locked.map((jobs) => jobs.length)).toEqual([16, 16, 16, 16, 0])
  gate.resolve()
  await handed.stop()
  // Rows in hand are finished before it has stopped.
  for (const sheet of sheets.slice(0, 4)) expect(await jobsOf(sheet)).toEqual([])
  const sheet = await makeRows(['pure'], 1)
  await runAll(sheet, ['pure_1'])
  expect(await jobsOf(sheet)).toEqual([{ locked_by: null, attempts: 0 }])
})
