import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { JobPostponed } from '#server/lib/job.ts'
import { WORKERS_REPLACED } from '#server/lib/log-lines.ts'
import { createLog } from '#server/lib/log.ts'
import { makeDatabase } from '#test/plumbing/harness.ts'
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
      const lost = () => lines.some((line) => line.includes(WORKERS_REPLACED))
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

  it('whose connections are closed calls its listener with the cause, and the listener may release the missing client', async () => {
    const log = createLog('silent')
    const connections = new JobConnections({ databaseUrl, queue: 'long', log, onLost: () => undefined })
    await connections.close()
    const answered = Promise.withResolvers<Error | undefined>()
    connections.connect((cause, _client, done) => {
      done()
      answered.resolve(cause)
    })
    await expect(answered.promise).resolves.toBeInstanceOf(Error)
  })

  it.each([
    ['a job that was postponed after a second', () => new JobPostponed('somebody else has it'), 1],
    ['one that failed after five minutes at most', () => new Error('broken'), 300],
  ])('tries %s, however often it was taken', async (_what, cause, seconds) => {
    await addLongJob(store.system, { lanes: 'feeds', name: 'often' }, { org_id: 'a' })
    await store.query({ text: 'update graphile_long._private_jobs set attempts = 12' })
    const { pool } = await open({ often: () => Promise.reject(cause()) })
    const failed = `select extract(epoch from run_at - now())::float as delay from graphile_long._private_jobs where last_error is not null`
    const delays = async () =>
      (await store.query<{ delay: number }>({ text: failed })).map(({ delay }) => delay)
    try {
      await expect.poll(async () => (await delays()).length).toBe(1)
    } finally {
      await pool.stop()
    }
    const [delay = Number.NaN] = await delays()
    expect(delay).toBeLessThanOrEqual(seconds)
    if (seconds > 1) expect(delay).toBeGreaterThan(1)
    await store.query({ text: 'delete from graphile_long._private_jobs' })
  })

  it('a job that came back after its pool was believed dead is not changed by a report of the older attempt', async () => {
    const began = Promise.withResolvers<void>()
    const older = Promise.withResolvers<void>()
    const newer = Promise.withResolvers<void>()
    let takings = 0
    const { pool } = await open({
      async twice() {
        takings += 1
        began.resolve()
        await (takings === 1 ? older.promise : newer.promise)
      },
    })
    const lock = async () =>
      (
        await store.query<{ locked_by: string | null; attempts: number }>({
          text: 'select locked_by, attempts from graphile_long._private_jobs',
        })
      )[0]
    try {
      await addLongJob(store.system, { lanes: 'feeds', name: 'twice' }, { org_id: 'b' })
      await began.promise
      await store.query({
        text: 'update graphile_long._private_job_queues set locked_by = null, locked_at = null',
      })
      await store.query({ text: 'update graphile_long._private_jobs set locked_by = null, locked_at = null' })
      await expect.poll(() => takings).toBe(2)
      const before = await lock()
      expect(before).toEqual({ locked_by: expect.any(String), attempts: 2 })
      older.reject(new JobPostponed('another worker has it'))
      await sleep(100)
      expect(await lock()).toEqual(before)
    } finally {
      newer.resolve()
      await pool.stop()
    }
    expect(await lock()).toBeUndefined()
  })

  it('is woken by jobs of its queue, also after its connections were lost, and does not wait for the next poll', async () => {
    let done = 0
    const { pool, lines } = await open({ wakes: async () => void (done += 1) })
    const lookMs = 1000
    const doSome = async () => {
      const since = performance.now()
      for (let n = 0; n < 5; n += 1) {
        const before = done
        await addLongJob(store.system, { lanes: 'feeds', name: 'wakes' }, { org_id: `wakes ${n}` })
        await expect.poll(() => done, { interval: 5 }).toBe(before + 1)
      }
      return performance.now() - since
    }
    try {
      // Without a notification each job would be found up to a second later.
      await expect.poll(doSome).toBeLessThan(3 * lookMs)
      while (!lines.some((line) => line.includes(WORKERS_REPLACED))) {
        await cutConnections()
        await sleep(5)
      }
      await expect.poll(doSome).toBeLessThan(3 * lookMs)
    } finally {
      await pool.stop()
    }
  })

  it('that stops leaves no connection behind, finishes its current job, and logs nothing', async () => {
    const started = Promise.withResolvers<void>()
    let finished = false
    const { pool, lines } = await open({
      async slow() {
        started.resolve()
        await sleep(300)
        finished = true
      },
    })
    await addLongJob(store.system, { lanes: 'feeds', name: 'slow' }, { org_id: 'a' })
    await started.promise
    await pool.stop()
    expect(finished).toBe(true)
    expect(await countConnections()).toBe(0)
    expect(lines).toEqual([])
    expect(await store.query({ text: 'select from graphile_long._private_jobs' })).toEqual([])
  })
})
