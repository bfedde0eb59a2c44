import { beforeAll, describe, expect, it } from 'vitest'
import { targets } from '#test/plumbing/databases.ts'
import { makeDatabase } from '#test/plumbing/harness.ts'
import { ask } from './ask.ts'
import { ConnectionPool } from './connection-pool.ts'
import { isUnavailable } from './db.ts'
import { isFromDatabase } from './faults.ts'
import { watchForHung } from './hung-statements.ts'

describe.each(targets())('statements that do not end, on $name', (target) => {
  let pool: ConnectionPool

  beforeAll(async () => {
    pool = new ConnectionPool({ connectionString: await makeDatabase(target), max: 2 })
    return () => pool.close()
  })

  it('fail as an outage, with their connection, and no other does', async () => {
    const hung = watchForHung(300)
    const [stuck, quick] = [await pool.connect(), await pool.connect()]
    hung.begin(stuck)
    const waiting = ask(stuck, { text: 'select pg_sleep(60)' }).catch((cause: unknown) => cause)
    for (let n = 0; n < 5; n += 1) {
      hung.begin(quick)
      expect((await ask(quick, { text: 'select pg_sleep(0.1), 1 as one' })).rows[0]).toMatchObject({ one: 1 })
      hung.end(quick)
    }
    const cause = await waiting
    hung.end(stuck)
    hung.close()
    expect(isUnavailable(cause)).toBe(true)
    expect(isFromDatabase(cause)).toBe(true)
    stuck.release(true)
    expect((await ask(quick, { text: 'select 2 as two' })).rows).toEqual([{ two: 2 }])
    quick.release()
  })

  it('a failure names who asked, and is marked as one of the database', async () => {
    const client = await pool.connect()
    async function whoAsks(): Promise<void> {
      await ask(client, { text: 'select from nowhere' })
    }
    const cause = await whoAsks().catch((error: unknown) => error)
    client.release()
    expect(cause).toMatchObject({ code: '42P01', stack: expect.stringContaining('whoAsks') })
    expect(isFromDatabase(cause)).toBe(true)
    expect(isUnavailable(cause)).toBe(false)
  })
})
