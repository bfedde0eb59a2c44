import { existsSync, readFileSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createLog } from '#server/lib/log.ts'
import { targets } from '#test/databases.ts'
import { makeDatabase } from '#test/harness.ts'
import { openStore, type StoreOptions } from './db.ts'
import { isProcessFor } from './give-way.ts'

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

/** Processes have numbers of this machine only where the database is on it. */
const embedded = targets().filter(({ name }) => name === 'embedded')

describe.skipIf(process.platform !== 'linux').each(embedded)('statements on $name', (target) => {
  async function processFor(options: Partial<StoreOptions>): Promise<number> {
    const store = openStore({ url: await makeDatabase(target), log: createLog('silent'), ...options })
    onTestFinished(() => store.close())
    const [row] = await store.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' })
    return row?.pid ?? 0
  }

  it('of rows come after all others that want a processor', async () => {
    const pid = await processFor({ keyedPlans: true })
    await vi.waitFor(() => expect(getPriority(pid)).toBe(PRIORITY_LOW))
    const session = `/proc/${pid}/autogroup`
    if (existsSync(session)) {
      await vi.waitFor(() => expect(readFileSync(session, 'utf8')).toMatch(/nice 19$/m))
    }
  })

  it('of requests keep their priority', async () => {
    const pid = await processFor({})
    expect(getPriority(pid)).toBe(getPriority())
  })
})
