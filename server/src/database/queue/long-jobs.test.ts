import { beforeAll, beforeEach, expect, it } from 'vitest'
import { createLog } from '#server/lib/log.ts'
import { makeDatabase } from '#test/plumbing/harness.ts'
import { openStore, type Store } from '../connection/db.ts'
import { migrate } from '../connection/migrate.ts'
import { addJobsStatement } from './jobs.ts'
import { addLongJob, forgetIdleLanes, LONG_JOBS_AT_ONCE } from './long-jobs.ts'
import { type Pool, startPool } from './pool.ts'

const databaseUrl = await makeDatabase()
const workerIds = { add: () => undefined, retire: () => undefined }
let store: Store

beforeAll(() => {
  store = openStore({ url: databaseUrl, log: createLog('silent'), connections: 4 })
  return () => store.close()
})
beforeEach(() => store.query({ text: 'delete from graphile_long._private_jobs' }))

const add = (org: string, n: number, lanes: 'exports' | 'imports' = 'exports') =>
  addLongJob(store.system, { lanes, name: 'work' }, { org_id: org, n })

const lanes = async () => {
  const rows = await store.query<{ queue_name: string }>({
    text: 'select queue_name from graphile_long._private_job_queues order by 1',
  })
  return rows.map((row) => row.queue_name)
}

/** Starts a pool whose jobs end when the test ends them. */
async function startHeldPool(size: number) {
  const atWork = new Map<string, () => void>()
  const begun: string[] = []
  const pool: Pool = await startPool({
    databaseUrl,
    log: createLog('silent'),
    workerIds,
    queue: 'long',
    size,
    ahead: 0,
    tasks: {
      async work(payload) {
        const { org_id, n } = payload as { org_id: string; n: number }
        const { promise, resolve } = Promise.withResolvers<void>()
        begun.push(`${org_id}${n}`)
        atWork.set(`${org_id}${n}`, resolve)
        await promise
        atWork.delete(`${org_id}${n}`)
      },
    },
  })
  return {
    begun,
    atWork,
    end: (name: string) => atWork.get(name)?.(),
    async stop() {
      const stopped = pool.stop()
      const timer = setInterval(() => atWork.forEach((end) => end()), 10)
      await stopped
      clearInterval(timer)
    },
  }
}

it('an organisation has two jobs of a kind at work, however many it queues, and another gets a place at once (R16)', async () => {
  for (let n = 0; n < 40; n++) await add('flood', n)
  const pool = await startHeldPool(LONG_JOBS_AT_ONCE)
  try {
    await expect.poll(() => pool.atWork.size).toBe(2)
    await add('other', 1)
    await add('flood', 100, 'imports')
    await expect.poll(() => [...pool.atWork.keys()]).toContain('other1')
    await expect.poll(() => pool.atWork.size).toBe(4)
    // Both lanes continue, each with its next job.
    for (const name of [...pool.atWork.keys()].filter((each) => each.startsWith('flood'))) pool.end(name)
    await expect.poll(() => pool.begun.length).toBe(6)
    expect(pool.begun.filter((name) => name.startsWith('flood'))).toHaveLength(5)
  } finally {
    await pool.stop()
  }
})

it('where places are taken, the next job is of the organisation that was served least (R16)', async () => {
  for (let n = 0; n < 6; n++) await add('a', n)
  for (let n = 0; n < 3; n++) await add('b', n)
  await add('c', 0)
  const pool = await startHeldPool(1)
  try {
    for (let n = 1; n <= 10; n++) {
      await expect.poll(() => pool.begun.length).toBe(n)
      pool.end(pool.begun.at(-1) ?? '')
    }
    const [first, second] = [pool.begun.slice(0, 3), pool.begun.slice(3, 5)]
    expect(first.map((name) => name.slice(0, 1)).toSorted()).toEqual(['a', 'b', 'c'])
    expect(second.map((name) => name.slice(0, 1)).toSorted()).toEqual(['a', 'b'])
    expect(pool.begun.slice(7)).toEqual(['a3', 'a4', 'a5'])
  } finally {
    await pool.stop()
  }
})

it('jobs for later are spread over lanes and times, and delay no job for now', async () => {
  const runAt = new Date(Date.now() + 3_600_000)
  for (let n = 0; n < 4; n++)
    await addLongJob(
      store.system,
      { lanes: 'feeds', name: 'work' },
      { org_id: 'a', n },
      { runAt, key: `later ${n}` },
    )
  await addLongJob(store.system, { lanes: 'feeds', name: 'work' }, { org_id: 'a', n: 9 })
  const found = await store.query({
    text: `select q.queue_name, j.priority from graphile_long._private_jobs j
      join graphile_long._private_job_queues q on q.id = j.job_queue_id order by j.id`,
  })
  expect(found).toEqual([
    { queue_name: 'a feeds 0', priority: 1 },
    { queue_name: 'a feeds 1', priority: 2 },
    { queue_name: 'a feeds 0', priority: 3 },
    { queue_name: 'a feeds 1', priority: 4 },
    { queue_name: 'a feeds 0', priority: 1 },
  ])
})

it('lanes without jobs are forgotten, others stay', async () => {
  await add('gone', 1)
  await store.query({ text: 'delete from graphile_long._private_jobs' })
  await add('stays', 1)
  await forgetIdleLanes(store.system)
  expect(await lanes()).toEqual(['stays exports 0'])
})

it('long jobs that an earlier version queued among all others are moved by the migration', async () => {
  const job = {
    task: 'export_sheet',
    payload: `json_build_object('org_id', 'a', 'export_id', n)`,
    priority: '0',
    key: `'kept ' || n`,
    from: 'generate_series(1, 2) n',
  }
  await store.query({ text: addJobsStatement('jobs', job) })
  await store.query({ text: `delete from settings where name = 'graphile_worker_version'` })
  await migrate(databaseUrl, () => undefined)
  expect(await store.query({ text: `select from graphile_worker._private_jobs` })).toEqual([])
  const moved = await store.query({
    text: `select t.identifier, j.payload, j.key from graphile_long._private_jobs j
      join graphile_long._private_tasks t on t.id = j.task_id order by j.key`,
  })
  expect(moved).toEqual([
    { identifier: 'export_sheet', payload: { org_id: 'a', export_id: 1 }, key: 'kept 1' },
    { identifier: 'export_sheet', payload: { org_id: 'a', export_id: 2 }, key: 'kept 2' },
  ])
})
