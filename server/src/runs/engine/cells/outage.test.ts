import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { type FlightSheet, makeFlightApp, makeFlightSheet, must } from '../testing/flight-store-fixture.ts'
import { makeEngine } from '../testing/test-engine.ts'
import { walkRow } from '../walk.ts'

const app = await makeFlightApp()

async function enqueue(action: string): Promise<FlightSheet> {
  const sheet = await makeFlightSheet(app, [action], 0)
  await sheet.addRows(1)
  await sheet.run()
  return sheet
}

async function connect(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: app.databaseUrl })
  await client.connect()
  await client.query(`select set_config('loam.org', '*', false)`)
  onTestFinished(() => client.end())
  return client
}

const statusesOf = async (sheet: FlightSheet) => (await sheet.cells()).map(({ status }) => status)

it.each(['unique', 'hasty'])(
  'R15: repeated outages of the database under %s never settle its cell',
  async (action) => {
    const sheet = await enqueue(action)
    const [blocker, killer] = [await connect(), await connect()]
    const engine = makeEngine(app)
    const walk = async () => walkRow(engine, must((await sheet.jobs())[0]))
    const cut = async () => {
      const { rowCount } = await killer.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%dedupe_keys%'`)
      return rowCount
    }
    await blocker.query('begin; lock table dedupe_keys')
    for (let cuts = 0; cuts < 5; cuts += 1) {
      const walked = walk()
      await expect.poll(cut).toBe(1)
      await walked
      expect([await statusesOf(sheet), (await sheet.flights()).length]).toEqual([[], 1])
    }
    await blocker.query('rollback')
    while ((await sheet.flights()).length > 0) await walk()
    expect(await statusesOf(sheet)).toEqual(['complete'])
    expect(await sheet.flights()).toEqual([])
  },
)

it('R15: a statement that hangs until the timeout of its action never settles its cell', async () => {
  const sheet = await enqueue('hasty')
  const blocker = await connect()
  const engine = makeEngine(app)
  const walk = async () => walkRow(engine, must((await sheet.jobs())[0]))
  await blocker.query('begin; lock table dedupe_keys')
  for (let hung = 0; hung < 3; hung += 1) {
    await walk()
    expect([await statusesOf(sheet), (await sheet.flights()).length]).toEqual([[], 1])
  }
  await blocker.query('rollback')
  // Statements that were given up may still be running on their connections; they claim the value for the same row.
  while ((await sheet.flights()).length > 0) await walk()
  expect(await statusesOf(sheet)).toEqual(['complete'])
})

it('R15: an outage that outlasts the retries of a job never gives up its cell', async () => {
  const sheet = await enqueue('free')
  const [blocker, killer] = [await connect(), await connect()]
  await blocker.query('begin; lock table cells')
  const walked = walkRow(makeEngine(app), must((await sheet.jobs())[0]))
  const cut = async () => {
    const { rowCount } = await killer.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%cells%'`)
    return rowCount
  }
  for (let cuts = 0; cuts < 10; cuts += 1) await expect.poll(cut).toBe(1)
  await blocker.query('rollback')
  await walked
  expect(await statusesOf(sheet)).toEqual(['complete'])
  expect(await sheet.flights()).toEqual([])
})

it('an action that throws another error has failed, even if it looks like a lost connection', async () => {
  const sheet = await enqueue('broken')
  await walkRow(makeEngine(app), must((await sheet.jobs())[0]))
  expect(await statusesOf(sheet)).toEqual(['failed'])
})
