import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { createLog } from '#server/lib/log.ts'
import { makeDatabase } from '#test/harness.ts'
import { openStore, type Store } from '../connection/db.ts'
import { JobConnections } from './job-connections.ts'
import { addLongJob } from './long-jobs.ts'
import { startPool, type WorkerIds } from './pool.ts'

const databaseUrl = await makeDatabase()
let store: Store

beforeAll(() => {
  store = openStore({ url: databaseUrl, log: createLog('silent'), connections: 2 })
  return () => store.close()
})

const NAME = `application_name = 'loam jobs' and datname = current_database()`
const countConnections = async () =>
  (await store.query({ text: `select from pg_stat_activity where ${NAME}` })).length
const cutConnections = () =>
  store.query({ text: `select pg_terminate_backend(pid) from pg_stat_activity where ${NAME}` })

async function open(tasks: Record<string, () => Promise<void>> = {}) {
  const lines: string[] = []
  const log = createLog('warn', { write: (line: string) => void lines.push(line) })
  const working = new Set<string>()
  const workerIds: WorkerIds = { add: (id) => void working.add(id), retire: (id) => void working.delete(id) }
  const pool = await startPool({
    databaseUrl,
    log,
    workerIds,
    queue: 'long',
    size: 2,
    ahead: 2,
    tasks: { idle: async () => {}, ...tasks },
  })
  return { pool, working, lines }
}

describe('a pool of workers', () => {
  it.each([0, 5, 20, 60, 150])(
    'that reopens while the process ends is stopped as well (%i ms after it lost the database)',
    async (ms) => {
      const { pool, working, lines } = await open()
      const lost = () => lines.some((line) => line.includes('another takes its place'))
      while (!lost()) {
        await cutConnections()
        await sleep(5)
      }
      await sleep(ms)
      await pool.stop()
      expect([...working]).toEqual([])
      expect(await countConnections()).toBe(0)
    },
  )

  it('whose connections are closed answers its listener with the cause, who may release what there is not', async () => {
    const connections = new JobConnections(databaseUrl, () => undefined)
    await connections.close()
    const answered = Promise.withResolvers<Error | undefined>()
    connections.connect((cause, _client, done) => {
      done()
      answered.resolve(cause)
    })
    await expect(answered.promise).resolves.toBeInstanceOf(Error)
  })

  it('that stops leaves no connection behind, finishes the job in hand, and says nothing', async () => {
    const started = Promise.withResolvers<void>()
    let finished = false
    const { pool, lines } = await open({
      async slow() {
        started.resolve()
        await sleep(300)
        finished = true
      },
    })
    await addLongJob(store.system, 'feeds', 'slow', { org_id: 'a' })
    await started.promise
    await pool.stop()
    expect(finished).toBe(true)
    expect(await countConnections()).toBe(0)
    expect(lines).toEqual([])
    expect(await store.query({ text: 'select from graphile_long._private_jobs' })).toEqual([])
  })
})
