import { sql } from 'kysely'
import { Client } from 'pg'
import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { createLog } from '#server/lib/log.ts'
import { targets } from '#test/plumbing/databases.ts'
import { makeDatabase } from '#test/plumbing/harness.ts'
import { type Db, openStore, type Store } from './db.ts'

const REFUSED = { code: '26000' }

describe.each(targets())('transactions on $name', (target) => {
  let url: string
  let store: Store

  beforeAll(async () => {
    url = await makeDatabase(target)
    // One connection of the program itself, so that every test knows which connection it gets.
    store = openStore({ url, log: createLog('silent'), connections: 1 })
    return () => store.close()
  })
  /** Runs a first transaction: from the second one on, `begin` is sent with the first statement. */
  beforeEach(() => store.system.transaction().execute((trx) => read(trx, 'nothing')))

  const write = (db: Db, name: string) =>
    sql`insert into settings (name, value) values (${name}, '1')`.execute(db)
  const read = async (db: Db, name: string) =>
    (await sql<{ name: string }>`select name from settings where name = ${name}`.execute(db)).rows.length
  const readTransactionId = async (trx: Db) =>
    (await sql<{ id: string }>`select pg_current_xact_id()::text as id, ${1}::int`.execute(trx)).rows[0]?.id
  /** Makes the next `begin` fail on a connection that stays open. */
  const spoilBegin = () => store.query({ text: 'deallocate "begin"' })
  async function collectStatements(work: () => Promise<unknown>): Promise<unknown[]> {
    const query = vi.spyOn(Client.prototype, 'query')
    await work()
    const calls: unknown[][] = query.mock.calls
    query.mockRestore()
    return calls.map(([statement]) => (statement as { text?: string }).text)
  }

  it('begin with their first statement, in one round trip', async () => {
    const name = newId()
    const statements = await collectStatements(() =>
      store.system.transaction().execute(async (trx) => {
        await write(trx, name)
        expect(await readTransactionId(trx)).toBe(await readTransactionId(trx))
      }),
    )
    expect(statements).toHaveLength(4)
    expect(statements[0]).toContain('insert into settings')
    expect(statements.at(-1)).toBe('commit')
    expect(await read(store.system, name)).toBe(1)
  })

  it('are rolled back whole, the first statement too', async () => {
    const name = newId()
    const failed = store.system.transaction().execute(async (trx) => {
      await write(trx, name)
      throw new Error('called off')
    })
    await expect(failed).rejects.toThrow('called off')
    expect(await read(store.system, name)).toBe(0)
  })

  it('cost nothing without a statement', async () => {
    expect(await collectStatements(() => store.system.transaction().execute(async () => 1))).toEqual([])
    const failing = store.system.transaction().execute(async () => Promise.reject(new Error('called off')))
    await expect(failing).rejects.toThrow('called off')
  })

  it('begin with the first of several statements that are sent at once', async () => {
    const [one, two] = [newId(), newId()]
    const ids = await store.system.transaction().execute(async (trx) => {
      await Promise.all([write(trx, one), write(trx, two)])
      return Promise.all([readTransactionId(trx), readTransactionId(trx)])
    })
    expect(ids[0]).toBe(ids[1])
    const failed = store.system
      .transaction()
      .execute((trx) => Promise.all([write(trx, newId()), write(trx, one), write(trx, newId())]))
    await expect(failed).rejects.toMatchObject({ code: '23505' })
    expect(await read(store.system, two)).toBe(1)
  })

  it.each([
    ['text without parameters', (trx: Db) => sql`lock table settings`.execute(trx)],
    ['several statements in one text', (trx: Db) => sql`lock table settings; select 1`.execute(trx)],
    ['a savepoint', (trx: Db) => sql`savepoint here`.execute(trx)],
  ])('may begin with %s', async (_what, first) => {
    const name = newId()
    const failed = store.system.transaction().execute(async (trx) => {
      await first(trx)
      await write(trx, name)
      throw new Error('called off')
    })
    await expect(failed).rejects.toThrow('called off')
    expect(await read(store.system, name)).toBe(0)
  })

  it('have the isolation level and the access mode that they ask for', async () => {
    const settings = await store.system
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute(async (trx) => {
        const { rows } = await sql`select current_setting('transaction_isolation') as level,
          current_setting('transaction_read_only') as read_only where ${true}`.execute(trx)
        return rows
      })
    expect(settings).toEqual([{ level: 'repeatable read', read_only: 'on' }])
  })

  it('one that did not begin runs none of its statements, even if the first failure is caught', async () => {
    const names = [newId(), newId(), newId()]
    const [one = '', two = '', three = ''] = names
    await spoilBegin()
    const tried: unknown[] = []
    const failed = store.system.transaction().execute(async (trx) => {
      const both = await Promise.allSettled([write(trx, one), write(trx, two)])
      tried.push(...both.map((result) => result.status === 'rejected' && result.reason))
      tried.push(await write(trx, three).catch((cause: unknown) => cause))
    })
    await expect(failed).rejects.toMatchObject(REFUSED)
    expect(tried).toMatchObject([REFUSED, REFUSED, REFUSED])
    for (const name of names) expect(await read(store.system, name)).toBe(0)
    await store.system.transaction().execute((trx) => write(trx, one))
    expect(await read(store.system, one)).toBe(1)
  })

  it.each([
    ['fails', (trx: Db) => sql`select 1 / ${0}::int`.execute(trx), { code: '22012' }],
    ['is no SQL', (trx: Db) => sql`selec ${1}`.execute(trx), { code: '42601' }],
    [
      'is cancelled',
      (trx: Db) => sql`select pg_cancel_backend(pg_backend_pid()), pg_sleep(${5})`.execute(trx),
      { code: '57014' },
    ],
    [
      'has a value that cannot be sent',
      (trx: Db) =>
        sql`select ${{
          toPostgres() {
            throw new Error('not to be sent')
          },
        }}::text`.execute(trx),
      { message: 'not to be sent' },
    ],
  ])('one whose first statement %s does no more, and leaves its connection in order', async (...given) => {
    const [, first, failure] = given
    const name = newId()
    const failed = store.system.transaction().execute(async (trx) => {
      await expect(first(trx)).rejects.toMatchObject(failure)
      await write(trx, name)
    })
    await expect(failed).rejects.toThrow()
    expect(await read(store.system, name)).toBe(0)
    await store.system.transaction().execute((trx) => write(trx, name))
    expect(await read(store.system, name)).toBe(1)
    expect(await store.query({ text: 'select 1 as one' })).toEqual([{ one: 1 }])
  })

  it('one whose connection is lost at its first statement fails, and the next has another', async () => {
    const name = newId()
    const failed = store.system.transaction().execute(async (trx) => {
      await sql`select pg_terminate_backend(pg_backend_pid()), ${1}::int`.execute(trx)
      await write(trx, name)
    })
    await expect(failed).rejects.toThrow()
    await store.system.transaction().execute((trx) => write(trx, name))
    expect(await read(store.system, name)).toBe(1)
  })
})
