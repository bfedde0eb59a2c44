import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { DatabaseUse } from '../engine/cells/database-use.ts'
import type { Flight } from '../engine/flights/flight.ts'
import {
  makeFlightApp,
  makeFlightSheet,
  makeFlightStore,
  must,
} from '../engine/testing/flight-store-fixture.ts'
import { createSheetAccess } from './sheet-access.ts'
import { createSheetSends } from './sheet-sends.ts'
import { createSheetWalks } from './sheet-walk.ts'
import { createTargetReach } from './target-sheet.ts'
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
  // Asked on another connection than the one that holds the lock: within a transaction PostgreSQL shows the activity of
  // its first look.
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
    sendRows: createSheetSends(app.store, app.services.catalogue),
    lookUp: createSheetWalks(app.store),
    reachTarget: createTargetReach(app.store, app.services.catalogue),
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

it('a scan reads large rows few at a time, in order, and says when the matching rows are too large', async () => {
  const sheet = await makeFlightSheet(app, ['free'], 0)
  const large = (n: number) => ({ kill: `${n} ${randomBytes(150_000).toString('hex')}` })
  const sent: { kill: string }[] = []
  for (let n = 0; n < 7; n++) sent.push(large(n))
  for (const row of sent) await sheet.addRows(1, row)
  await sheet.addRows(20)
  await sheet.run()
  const flight = must(await makeFlightStore(app).claim(must((await sheet.jobs())[0])))
  const access = createSheetAccess(app.store, flight, {
    signal: new AbortController().signal,
    database: new DatabaseUse(),
    judgeUnique: createUniqueness(app.store),
    sendRows: createSheetSends(app.store, app.services.catalogue),
    lookUp: createSheetWalks(app.store),
    reachTarget: createTargetReach(app.store, app.services.catalogue),
  })
  const query = { targetSheetId: flight.facts.sheet_id, conditions: [], limit: 7, order: 'oldest' } as const
  const found = await access.lookup(query)
  expect(found).toMatchObject({ ok: true, value: { count: 27, records: sent } })
  expect(await access.lookup({ ...query, order: 'newest', limit: 27 })).toMatchObject({
    ok: true,
    value: { count: 27, records: { length: 27, 26: sent[0] } },
  })
  for (let n = 0; n < 22; n++) await sheet.addRows(1, large(n))
  expect(await access.lookup({ ...query, limit: 100 })).toEqual({
    ok: false,
    message: expect.stringContaining('8,388,608 bytes; lower the limit or narrow the conditions'),
  })
})

it('D72: what an earlier row was named in another run counts for nothing while it is in flight again', async () => {
  const sheet = await makeFlightSheet(app, ['free'], 0)
  await sheet.addRows(2)
  const claimBoth = async () => {
    await sheet.run()
    const jobs = await sheet.jobs()
    return Promise.all(jobs.map(async (job) => must(await makeFlightStore(app).claim(job))))
  }
  const judge = (flight: Flight | undefined, text: string) => {
    const values = { texts: [text], inputs: null, ignoreCase: false, waitedEnough: false }
    return createUniqueness(app.store)(must(flight), values)
  }
  const [first, second] = await claimBoth()
  expect(await judge(first, 'a.com')).toBe('unique')
  expect(await judge(second, 'b.com')).toBe('unique')
  await sheet.stop()
  const [firstAgain, secondAgain] = await claimBoth()
  expect(await judge(secondAgain, 'b.com')).toBe('unknown yet')
  expect(await judge(firstAgain, 'b.com')).toBe('unique')
  expect(await judge(secondAgain, 'b.com')).toBe('duplicate')
})
