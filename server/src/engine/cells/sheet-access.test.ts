import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { makeFlightApp, makeFlightSheet, makeFlightStore, must } from '../testing/flight-store-fixture.ts'
import { DatabaseUse } from './database-use.ts'
import { createSheetAccess } from './sheet-access.ts'
import { createUniqueness } from './uniqueness.ts'

const app = await makeFlightApp()

it('a scan of lookup_rows_in_sheet is cancelled in the database when its action has ended', async () => {
  const sheet = await makeFlightSheet(app, ['free'], 0)
  for (const count of [1000, 500]) await sheet.addRows(count)
  await sheet.run()
  const flight = must(await makeFlightStore(app).claim(must((await sheet.jobs())[0])))
  const client = new pg.Client({ connectionString: app.databaseUrl })
  await client.connect()
  onTestFinished(() => client.end())
  // Not by the client that holds the lock: within a transaction PostgreSQL shows the activity of its first look.
  const countWaiting = async () => {
    const waiting = await app.store.query({
      text: `select pid from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%from rows r%'`,
    })
    return waiting.length
  }

  const action = new AbortController()
  const access = createSheetAccess(app.store, flight, {
    signal: action.signal,
    database: new DatabaseUse(),
    judgeUnique: createUniqueness(app.store),
  })
  const query = {
    targetSheetId: flight.facts.sheet_id,
    conditions: [],
    limit: 10,
    order: 'oldest',
  } as const
  expect(await access.lookup(query)).toMatchObject({ ok: true, value: { count: 1500 } })

  await client.query('begin; lock table rows')
  const scan = access.lookup(query)
  const ended = expect(scan).rejects.toThrow('aborted')
  await expect.poll(countWaiting).toBe(1)
  action.abort()
  // The table is still locked: nothing but the cancellation ends the statement.
  await ended
  await expect.poll(countWaiting).toBe(0)
  await client.query('rollback')
})
