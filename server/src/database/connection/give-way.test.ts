import { existsSync, readFileSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { createLog } from '#server/lib/log.ts'
import { targets } from '#test/plumbing/databases.ts'
import { makeDatabase } from '#test/plumbing/harness.ts'
import { type Db, openStore, type Store, type StoreOptions } from './db.ts'
import { isProcessFor } from './give-way.ts'
import { KEYED, KEYED_UNHURRIED } from './statement-names.ts'

const { PRIORITY_LOW } = constants.priority
const ours = { user: 'loam', database: 'loam', port: 50123 }
const local = { ...ours, port: null }

describe('the process of PostgreSQL for a connection', () => {
  it.each([
    { of: ours, title: 'postgres: loam loam 127.0.0.1(50123) idle', is: true },
    { of: ours, title: 'postgres: main: loam loam 10.0.0.7(50123) SELECT', is: true },
    { of: local, title: 'postgres: loam loam [local] idle', is: true },
    { of: ours, title: 'postgres: loam loam 127.0.0.1(50124) idle', is: false },
    { of: ours, title: 'postgres: loam loam [local] idle', is: false },
    { of: local, title: 'postgres: loam loam 127.0.0.1(50123) idle', is: false },
    { of: local, title: 'postgres: loam other [local] idle', is: false },
    { of: local, title: 'postgres: checkpointer ', is: false },
    { of: local, title: 'vi loam loam [local] ', is: false },
    { of: local, title: '', is: false },
  ])('$title', ({ of, title, is }) => expect(isProcessFor(of, title)).toBe(is))
})

/** The embedded database: its processes have process numbers of this machine. */
const embedded = targets().filter(({ name }) => name === 'embedded')

describe.skipIf(process.platform !== 'linux').each(embedded)('statements on $name', (target) => {
  async function openOn(options: Partial<StoreOptions>): Promise<Store> {
    const store = openStore({ url: await makeDatabase(target), log: createLog('silent'), ...options })
    onTestFinished(() => store.close())
    return store
  }
  const pidOf = async (db: Db, marker = sql``) =>
    (await sql<{ pid: number }>`${marker} select pg_backend_pid() as pid`.execute(db)).rows[0]?.pid ?? 0
  async function expectToGiveWay(pid: number): Promise<void> {
    await vi.waitFor(() => expect(getPriority(pid)).toBe(PRIORITY_LOW))
    const session = `/proc/${pid}/autogroup`
    if (existsSync(session)) {
      await vi.waitFor(() => expect(readFileSync(session, 'utf8')).toMatch(/nice 19$/m))
    }
  }

  it('of rows come after all others that want a processor', async () => {
    const { system } = await openOn({ keyedPlans: true })
    await expectToGiveWay(await pidOf(system))
  })

  it('of transactions whose first statement is marked as unhurried have a low priority too', async () => {
    const org = (await openOn({})).org(newId())
    const begins = (marker: string) => org.transaction().execute((trx) => pidOf(trx, sql.raw(marker)))
    await expectToGiveWay(await begins(KEYED_UNHURRIED))
    expect(getPriority(await begins(KEYED))).toBe(getPriority())
  })

  it('of requests keep their priority', async () => {
    const { system } = await openOn({})
    expect(getPriority(await pidOf(system))).toBe(getPriority())
  })
})
