import { expect, it } from 'vitest'
import type { Desk, RowJob } from './flight-store.ts'
import {
  complete,
  type Field,
  makeDesk,
  makeField,
  makeFieldApp,
  must,
} from './testing/flight-store-fixture.ts'
import { makeEngine } from './testing/test-engine.ts'
import { type Engine, walkRow } from './walk.ts'

const app = await makeFieldApp()
const old = makeDesk(app, 1)
const fresh = makeDesk(app, 2)

async function launch(chain: string[], rows: number): Promise<{ field: Field; jobs: RowJob[] }> {
  const field = await makeField(app, chain, 0)
  await field.addRows(rows)
  await field.run()
  return { field, jobs: await field.jobs() }
}

/** An engine that notes what it does: claims, looks, cells that are written together, and actions that are not pure. */
function watched(): { engine: Engine; notes: string[] } {
  const plain = makeEngine(app)
  const notes: string[] = []
  const desk: Desk = {
    ...plain.desk,
    async claim(job, how) {
      notes.push('claim')
      return plain.desk.claim(job, how)
    },
    async look(job) {
      notes.push('look')
      return plain.desk.look(job)
    },
    async settle(flight, settlement, urgent) {
      const answer = await plain.desk.settle(flight, settlement, urgent)
      notes.push(`settled ${settlement.cells.map((cell) => cell.action).join(' ')}`)
      return answer
    },
  }
  const free = must(plain.catalogue.get('free'))
  const noted: typeof free = {
    ...free,
    run(args) {
      notes.push('free runs')
      return free.run(args)
    },
  }
  const catalogue = {
    ...plain.catalogue,
    get: (id: string) => (id === 'free' ? noted : plain.catalogue.get(id)),
  }
  return { engine: { ...plain, desk, catalogue }, notes }
}

const cellsOf = async (field: Field) =>
  (await field.cells()).map(({ action, status }) => `${action} ${status}`)

it('cells of pure actions are written together; any other action starts when all before it is durable', async () => {
  const { field, jobs } = await launch(['pure', 'pure', 'free', 'pure', 'free', 'free'], 1)
  const { engine, notes } = watched()
  await walkRow(engine, must(jobs[0]), { fresh: true })
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
  expect(await cellsOf(field)).toHaveLength(6)
  expect(await field.flights()).toEqual([])
})

it('rows of a run of pure actions only are not taken up for them', async () => {
  const { field, jobs } = await launch(['pure', 'pure'], 2)
  const { engine, notes } = watched()
  for (const job of jobs) await walkRow(engine, job, { fresh: true })
  expect(notes).toEqual(['claim', 'settled pure_1 pure_2', 'look', 'settled pure_1 pure_2'])
  expect(await cellsOf(field)).toHaveLength(4)
  expect(await field.flights()).toEqual([])
})

it('the first rows of a run are, as they do not wait for the mass', async () => {
  const { field, jobs } = await launch(['pure', 'pure'], 2)
  const { engine, notes } = watched()
  for (const job of jobs) await walkRow(engine, job, { fresh: true, express: true })
  expect(notes).toEqual(['claim', 'settled pure_1 pure_2', 'claim', 'settled pure_1 pure_2'])
  expect(await field.flights()).toEqual([])
})

it('they are when somebody has, or something else follows', async () => {
  const { field, jobs } = await launch(['pure', 'pure'], 2)
  const { engine, notes } = watched()
  await walkRow(engine, must(jobs[0]), { fresh: true })
  await old.claim(must(jobs[1]))
  await walkRow(engine, must(jobs[1]), { fresh: true })
  expect(notes.slice(2)).toEqual(['look', 'claim', 'settled pure_1', 'settled pure_2'])
  expect(await field.flights()).toEqual([])

  const mixed = await launch(['pure', 'free'], 2)
  notes.length = 0
  for (const job of mixed.jobs) await walkRow(engine, job, { fresh: true })
  const each = ['claim', 'settled pure_1', 'free runs', 'settled free_1']
  expect(notes).toEqual([...each, ...each])
  expect(await cellsOf(mixed.field)).toHaveLength(4)
})

it('a row that may have ended its worker goes cell by cell', async () => {
  const { jobs } = await launch(['pure', 'pure'], 1)
  const { engine, notes } = watched()
  await old.claim(must(jobs[0]))
  await walkRow(engine, must(jobs[0]))
  expect(notes).toEqual(['claim', 'settled pure_1', 'settled pure_2'])
})

it('who only looked at a row writes nothing once another has taken it up, or it was stopped', async () => {
  const { field, jobs } = await launch(['pure', 'pure'], 2)
  const [taken, stopped] = await Promise.all(jobs.map(async (job) => must(await old.look(job))))
  expect(must(taken).attempt).toBe(0)
  await fresh.claim(must(jobs[0]))
  expect(await old.look(must(jobs[0]))).toBeNull()
  expect(await old.settle(must(taken), complete(must(taken), null))).toBeNull()
  expect(await field.stop()).toBe(1)
  expect(await old.settle(must(stopped), complete(must(stopped), null))).toBeNull()
  expect(await field.cells()).toEqual([])
})

it('who takes up a row that another has computed lightly goes on after its cells', async () => {
  const { field, jobs } = await launch(['pure', 'free'], 1)
  const seen = must(await old.look(must(jobs[0])))
  expect(await old.settle(seen, complete(seen, 'free_1'))).toEqual({ runState: 'running' })
  expect(await fresh.claim(must(jobs[0]))).toMatchObject({ action: 'free_1', attempt: 1, strikes: 1 })
  expect(await old.settle(seen, complete(seen, 'free_1'))).toBeNull()
  expect(await cellsOf(field)).toEqual(['pure_1 complete'])
})

it('one that lost its fence does not take the rest of its batch with it', async () => {
  const { field, jobs } = await launch(['free', 'free'], 6)
  const flights = await Promise.all(jobs.map(async (job) => must(await old.claim(job))))
  for (const n of [0, 3]) await fresh.claim(must(jobs[n]))
  const answers = await Promise.all(flights.map((flight) => old.settle(flight, complete(flight, 'free_2'))))
  expect(answers.map((answer) => answer === null)).toEqual([true, false, false, true, false, false])
  expect((await field.cells()).map((cell) => cell.row_id)).toEqual(
    jobs.filter((_, n) => n !== 0 && n !== 3).map((job) => job.r),
  )
})
