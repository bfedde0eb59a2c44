import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { Client, DatabaseError } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { createLog } from '#server/lib/log.ts'
import { serveRaw } from '#test/doubles/loopback-server.ts'
import { targets } from '#test/plumbing/databases.ts'
import { makeDatabase } from '#test/plumbing/harness.ts'
import { insertOrganisation } from '../../organisation/store/organisations.ts'
import { type Db, inTransaction, isUnavailable, openStore, type Store } from './db.ts'

const log = createLog('silent')
const ROUNDS = 120

/** Lists every organisation that a handle sees. */
const listVisible = async (db: Db) =>
  (await db.selectFrom('organisations').select('org_id').execute()).map((row) => row.org_id)

async function catchError(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => new Error('it did not fail'),
    (cause: unknown) => cause,
  )
}

describe.each(targets())('the store on $name', (target) => {
  let url: string
  let store: Store
  let admin: Client
  const orgs: string[] = []

  beforeAll(async () => {
    url = await makeDatabase(target)
    store = openStore({ url, log, connections: 3 })
    for (let n = 0; n < 10; n++) orgs.push(await insertOrganisation(store.system, `Organisation ${n}`))
    admin = new Client({ connectionString: url })
    await admin.connect()
    return async () => {
      await store.close()
      await admin.end()
    }
  })

  const terminateAll = () =>
    admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'loam' and datname = current_database()`,
    )

  /** Several ways to read the organisations. The last two end with a statement that fails. */
  const attempts: ((org: string) => Promise<unknown>)[] = [
    async (org) => expect(await listVisible(store.org(org))).toEqual([org]),
    (org) =>
      store
        .org(org)
        .transaction()
        .execute(async (trx) => {
          expect(await listVisible(trx)).toEqual([org])
          await sleep(Math.random() * 3)
          expect(await listVisible(trx)).toEqual([org])
        }),
    async () => expect(await listVisible(store.system)).toHaveLength(10),
    async () => expect(await store.query({ text: 'select from organisations' })).toHaveLength(10),
    (org) => sql`select 1 / 0`.execute(store.org(org)),
    (org) =>
      store
        .org(org)
        .transaction()
        .execute(async (trx) => {
          expect(await listVisible(trx)).toEqual([org])
          await sql`select 1 / 0`.execute(trx)
        }),
  ]
  const look = async (way: number, org: string) => attempts[way]?.(org)

  /** Reads for 10 organisations at once and returns the unexpected errors. */
  async function readAll(): Promise<unknown[]> {
    const results = await Promise.allSettled(
      Array.from({ length: ROUNDS }, (_, n) => look(n % attempts.length, orgs[(n * 7) % 10] ?? '')),
    )
    const reasons: unknown[] = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason] : [],
    )
    return reasons.filter((cause) => !(cause instanceof DatabaseError && cause.code === '22012'))
  }

  it(`an organisation sees itself and nothing else, in ${ROUNDS} interleaved reads of 10 over 3 connections`, async () => {
    expect(await readAll()).toEqual([])
  })

  it('nor after its connections were terminated: reads fail as unavailable, then succeed as before', async () => {
    // The connections are terminated again and again during the reads, because a single attempt could come too early or too
    // late.
    const ended = new AbortController()
    const looking = readAll().finally(() => ended.abort())
    while (!ended.signal.aborted) await terminateAll()
    const failures = await looking
    expect(failures.length).toBeGreaterThan(0)
    expect(failures.filter((cause) => !isUnavailable(cause))).toEqual([])
    await terminateAll()
    // The pool may hand out a connection once more before it hears that the connection has ended.
    await expect.poll(readAll).toEqual([])
  })

  it('a connection that was terminated during its statement is not given to another caller', async () => {
    const own = store.org(orgs[0] ?? '')
    for (let round = 0; round < 20; round += 1) {
      await expect(sql`select pg_terminate_backend(pg_backend_pid())`.execute(own)).rejects.toMatchObject({
        code: '57P01',
      })
      expect(await listVisible(own)).toEqual([orgs[0]])
    }
  })

  it('an organisation cannot insert, change or delete records of another one', async () => {
    const [own = '', other = ''] = orgs
    const db = store.org(own)
    const member = {
      member_id: newId(),
      email: 'x@example.com',
      first_name: null,
      last_name: null,
      role: 'admin',
    }
    const intrusion = catchError(
      db
        .insertInto('members')
        .values({ org_id: other, ...member })
        .execute(),
    )
    expect(await intrusion).toMatchObject({ code: '42501' })
    await db.updateTable('organisations').set({ name: 'taken over' }).execute()
    await db.deleteFrom('organisations').where('org_id', '=', other).execute()
    const names = await store.system.selectFrom('organisations').select(['org_id', 'name']).execute()
    expect(names.filter(({ name }) => name === 'taken over').map(({ org_id }) => org_id)).toEqual([own])
    expect(names).toHaveLength(10)
  })

  it.each(['', 'nobody', '00000000-0000-0000-0000-000000000000', "' or true --", '%'])(
    'a handle for the organisation %j, which does not exist, sees nothing',
    async (org) => expect(await listVisible(store.org(org))).toEqual([]),
  )

  it('handles work for more organisations than are kept', async () => {
    for (let n = 0; n < 2500; n++) store.org(newId())
    for (const org of orgs) expect(await listVisible(store.org(org))).toEqual([org])
  })

  it('inTransaction joins the transaction of its caller, or makes one', async () => {
    const db = store.org(orgs[2] ?? '')
    const rename = (to: Db, name: string) => to.updateTable('organisations').set({ name }).execute()
    const failed = catchError(
      db.transaction().execute(async (trx) => {
        await inTransaction(trx, (inner) => rename(inner, 'never'))
        throw new Error('rolled back')
      }),
    )
    expect(await failed).toHaveProperty('message', 'rolled back')
    await catchError(
      inTransaction(db, async (trx) => rename(trx, 'never either').then(() => Promise.reject(new Error()))),
    )
    await inTransaction(db, (trx) => rename(trx, 'kept'))
    expect(await db.selectFrom('organisations').select('name').execute()).toEqual([{ name: 'kept' }])
  })

  it('counts arrive as numbers, days as their text', async () => {
    const [row] = await store.query({
      text: `select 9007199254740991::bigint as n, date '2026-02-28' as day`,
    })
    expect(row).toEqual({ n: Number.MAX_SAFE_INTEGER, day: '2026-02-28' })
  })

  describe('isUnavailable', () => {
    it('is true when the connection is terminated during a statement', async () => {
      const sleeping = catchError(sql`select pg_sleep(20)`.execute(store.system))
      await sleep(50)
      await terminateAll()
      expect(isUnavailable(await sleeping)).toBe(true)
    })

    it('is true when the connection is terminated between two statements of a transaction', async () => {
      const failed = catchError(
        store.system.transaction().execute(async (trx) => {
          await listVisible(trx)
          await terminateAll()
          await sleep(50)
          await listVisible(trx)
        }),
      )
      expect(isUnavailable(await failed)).toBe(true)
      await expect.poll(() => listVisible(store.system).catch(() => [])).toHaveLength(10)
    })

    it('is true when the database accepts no more connections', async () => {
      const name = new URL(url).pathname.slice(1)
      await admin.query(`alter database ${name} connection limit 0`)
      const crowded = openStore({ url, log })
      const cause = await catchError(crowded.query({ text: 'select 1' }))
      await admin.query(`alter database ${name} connection limit -1`)
      await crowded.close()
      expect(cause).toMatchObject({ code: '53300' })
      expect(isUnavailable(cause)).toBe(true)
    })

    it.each([
      ['a syntax error', 'selec 1'],
      ['a missing table', 'select from nowhere'],
      ['a duplicate', `insert into settings (name, value) values ('twice', '1'), ('twice', '1')`],
      ['a statement that took too long', `set statement_timeout = 20; select pg_sleep(5)`],
    ])('is false for %s', async (_what, text) => {
      const own = openStore({ url, log, connections: 1 })
      expect(isUnavailable(await catchError(own.query({ text })))).toBe(false)
      expect(await own.query({ text: 'select 1 as one' })).toEqual([{ one: 1 }])
      await own.close()
    })
  })
})

describe('isUnavailable without a database', () => {
  async function failureAt(url: string): Promise<unknown> {
    const store = openStore({ url, log })
    afterAll(() => store.close())
    return catchError(store.query({ text: 'select 1' }))
  }

  it('is true when nothing listens', async () => {
    const { port, close } = await serveRaw(() => undefined)
    await close()
    for (const host of ['127.0.0.1', 'localhost']) {
      const cause = await failureAt(`postgres://loam@${host}:${port}/loam`)
      expect(cause).toMatchObject({ code: 'ECONNREFUSED' })
      expect(isUnavailable(cause)).toBe(true)
    }
  })

  it('is true when there is no such socket, and no such host', async () => {
    expect(isUnavailable(await failureAt('postgres://loam@localhost/loam?host=%2Fno%2Fsuch%2Ffolder'))).toBe(
      true,
    )
    expect(isUnavailable(await failureAt('postgres://loam@no..such..host/loam'))).toBe(true)
  })

  it('is true when the server hangs up at once', async () => {
    const { port } = await serveRaw((socket) => socket.destroy())
    expect(isUnavailable(await failureAt(`postgres://loam@127.0.0.1:${port}/loam`))).toBe(true)
  })

  it('is true when the server never answers', async () => {
    const { port } = await serveRaw(() => undefined)
    expect(isUnavailable(await failureAt(`postgres://loam@127.0.0.1:${port}/loam`))).toBe(true)
  })

  it('is false for failures that have nothing to do with the database', async () => {
    const missingFile = await catchError(readFile('/no/such/file'))
    for (const cause of [
      missingFile,
      new TypeError('x is not a function'),
      'ECONNREFUSED',
      null,
      undefined,
    ]) {
      expect(isUnavailable(cause)).toBe(false)
    }
  })
})
