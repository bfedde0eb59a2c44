import { globSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Logger, run } from 'graphile-worker'
import { sql } from 'kysely'
import { Client } from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { createLog } from '#server/lib/log.ts'
import { makeDatabase } from '#test/plumbing/harness.ts'
import { openStore, type Store } from '../connection/db.ts'
import { JobConnections, REPORT } from './job-connections.ts'
import { LOCKED_JOBS, unlockJobs } from './job-locks.ts'
import { addJobsStatement, JOB_SPEC, type Queue, QUEUES } from './jobs.ts'
import { addLongJob } from './long-jobs.ts'
import { BATCH_SIZE_ADVICE, POOL_SIZE_ADVICE } from './queue-log.ts'
import { getChannel } from './wakes.ts'

// Our knowledge of the inside of graphile-worker. A failure here after an upgrade says which part of this folder to change.
const databaseUrl = await makeDatabase()
let store: Store

beforeAll(() => {
  store = openStore({ url: databaseUrl, log: createLog('silent'), connections: 2 })
  return () => store.close()
})

/**
 * Collects the names and plans of a pool's statements, and its log, while it takes some jobs, fails one, and stops during
 * one.
 */
async function watchPool(
  queue: Queue,
  tasks: Record<string, () => Promise<void>>,
  seen: () => boolean,
  atOnce = 5,
) {
  const texts = new Map<string, string>()
  const lines: { level: string; message: string; error: unknown }[] = []
  const log = createLog('silent')
  const connections = new JobConnections({ databaseUrl, queue, log, onLost: () => undefined })
  connections.on('connect', (client) => {
    const send = client.query.bind(client) as (...given: unknown[]) => unknown
    client.query = ((statement: { name?: string; text: string }, ...rest: unknown[]) => {
      if (statement?.name !== undefined) texts.set(statement.name, statement.text)
      return send(statement, ...rest)
    }) as typeof client.query
  })
  const runner = await run({
    pgPool: connections,
    preset: {
      worker: {
        schema: QUEUES[queue],
        concurrentJobs: atOnce,
        localQueue: { size: 5 },
        completeJobBatchDelay: 5,
      },
    },
    taskList: tasks,
    logger: new Logger(() => (level, message, meta) => {
      lines.push({ level, message, error: meta?.['error'] })
    }),
    noHandleSignals: true,
  })
  for (let n = 0; n < 500 && !seen(); n++) await sleep(20)
  await runner.stop()
  const client = await connections.connect()
  const plans: string[] = []
  for (const [name, text] of texts) {
    const explained = await client.query<{ 'QUERY PLAN': string }>(
      `explain (generic_plan, costs off) ${text}`,
    )
    plans.push([name, ...explained.rows.map((row) => row['QUERY PLAN'])].join('\n'))
  }
  client.release()
  await connections.close()
  return { names: [...texts.keys()].sort(), plans, lines }
}

const listColumns = async (schema: string, table: string) =>
  (
    await store.query<{ name: string }>({
      text: `select attname as name from pg_attribute
        where attrelid = format('%I.%I', $1::text, $2::text)::regclass and attnum > 0 and not attisdropped order by attnum`,
      values: [schema, table],
    })
  ).map(({ name }) => name)

describe.each(Object.entries(QUEUES))('graphile-worker as installed, in the queue %s', (name, schema) => {
  const queue = name as Queue

  it('add_jobs reads the fields of job_spec in this order (JOB_SPEC in jobs.ts)', async () => {
    expect(await listColumns(schema, 'job_spec')).toEqual(JOB_SPEC)
  })

  it('_private_jobs has the columns that we read and write (jobs.ts, job-locks.ts, handed-jobs.ts)', async () => {
    expect(await listColumns(schema, '_private_jobs')).toEqual(
      expect.arrayContaining([
        'payload',
        'priority',
        'run_at',
        'attempts',
        'max_attempts',
        'key',
        'locked_at',
        'locked_by',
        'is_available',
        'task_id',
        'last_error',
        'updated_at',
      ]),
    )
    expect(await listColumns(schema, '_private_tasks')).toEqual(expect.arrayContaining(['id', 'identifier']))
  })

  it('takes jobs as we specify them, the lowest priority first', async () => {
    await store.query({
      text: addJobsStatement(queue, {
        task: 'specified',
        payload: `json_build_object('n', n)`,
        priority: 'n',
        runAt: `now() + interval '1 hour'`,
        key: `'key ' || n`,
        from: 'generate_series(3, 1, -1) n',
        orderBy: 'n',
      }),
    })
    const jobs = await store.query({
      text: `select payload, priority, key, max_attempts, run_at > now() + interval '59 minutes' as later
        from ${schema}._private_jobs order by id`,
    })
    expect(jobs).toEqual(
      [1, 2, 3].map((n) => ({ payload: { n }, priority: n, key: `key ${n}`, max_attempts: 25, later: true })),
    )
  })

  it('reports the results of jobs with these statements (REPORT in job-connections.ts), and logs the texts that we look for', async () => {
    await store.query({
      text: addJobsStatement(queue, {
        task: 'short',
        payload: `json_build_object('n', n)`,
        priority: '1',
        from: 'generate_series(1, 12) n',
      }),
    })
    await store.query({
      text: addJobsStatement(queue, {
        task: 'failing',
        payload: `'{}'`,
        priority: '1',
        from: '(values (1)) v',
      }),
    })
    const cause = new Error('the words of a task')
    let done = 0
    let failed = false
    const { names, plans, lines } = await watchPool(
      queue,
      {
        short: async () => void (done += 1),
        async failing() {
          failed = true
          throw cause
        },
      },
      () => done >= 12 && failed,
      6,
    )
    const reports = names.filter((each) => REPORT.test(each))
    expect(reports).toEqual(expect.arrayContaining([`complete_jobs/${schema}`, `fail_job/${schema}`]))
    expect(names.filter((each) => !REPORT.test(each))).toEqual([`get_job5/${schema}`])
    // The plans are made while there are hardly any jobs, and kept for when there are very many.
    for (const plan of plans) expect(plan).not.toMatch(/Seq Scan on _private_jobs/)
    expect(lines).toContainEqual({
      level: 'error',
      message: expect.stringContaining(cause.message),
      error: cause,
    })
    for (const advice of [POOL_SIZE_ADVICE, BATCH_SIZE_ADVICE])
      expect(lines).toContainEqual({
        level: 'warning',
        message: expect.stringContaining(advice),
        error: undefined,
      })
  })

  it('gives back the jobs that it took in advance with such a statement when it stops', async () => {
    await store.query({
      text: addJobsStatement(queue, {
        task: 'slow',
        payload: `'{}'`,
        priority: '1',
        from: 'generate_series(1, 3)',
      }),
    })
    let started = 0
    const slow = async () => {
      started += 1
      await sleep(200)
    }
    const { names } = await watchPool(queue, { slow }, () => started > 0, 1)
    expect(started).toBe(1)
    expect(names.filter((each) => REPORT.test(each))).toEqual([
      `complete_job/${schema}`,
      `return_job/${schema}`,
    ])
  })

  it('a job that is locked belongs to the pool whose id it has, and is available again when that is given up', async () => {
    await sql
      .raw(`update ${schema}._private_jobs set locked_by = 'pool-gone', locked_at = now()`)
      .execute(store.system)
    const held = () =>
      store.query({ text: `select from (${LOCKED_JOBS}) j where locked_by = 'pool-gone'`, values: [] })
    expect((await held()).length).toBeGreaterThan(0)
    await unlockJobs(store, ['pool-gone'])
    expect(await held()).toEqual([])
  })
})

it('adding no jobs sends no notification, adding some sends one, on the channel of their queue', async () => {
  const listener = new Client({ connectionString: databaseUrl })
  await listener.connect()
  const channels = ['jobs:insert', ...Object.values(QUEUES).map(getChannel), 'mark']
  try {
    const heard: string[] = []
    listener.on('notification', ({ channel, payload = '' }) => heard.push(`${channel} ${payload}`.trim()))
    for (const channel of channels) await listener.query(`listen "${channel}"`)
    const add = (queue: Queue, count: number) => ({
      text: addJobsStatement(queue, {
        task: 'wakes',
        payload: `'{}'::json`,
        priority: '0',
        from: `generate_series(1, ${count})`,
      }),
    })
    expect(await store.query(add('jobs', 0))).toEqual([{ count: 0 }])
    expect(await store.query(add('jobs', 3))).toEqual([{ count: 3 }])
    expect(await store.query(add('groups', 2))).toEqual([{ count: 2 }])
    await addLongJob(store.system, { lanes: 'feeds', name: 'wakes' }, { org_id: 'a' })
    await store.query({ text: 'notify mark' })
    // Notifications arrive in the order of commits.
    await expect.poll(() => heard.at(-1)).toBe('mark')
    expect(heard).toEqual([
      expect.stringMatching(/^jobs:insert\/graphile_worker .*"count":3/),
      expect.stringMatching(/^jobs:insert\/graphile_groups .*"count":2/),
      expect.stringMatching(/^jobs:insert\/graphile_long .*"count":1/),
      'mark',
    ])
  } finally {
    await listener.end()
    for (const schema of Object.values(QUEUES))
      await store.query({ text: `delete from ${schema}._private_jobs` })
  }
})

it('add_job takes a name, a payload and the options that addLongJob gives', async () => {
  const runAt = new Date('2040-01-01T00:00:00Z')
  await addLongJob(
    store.system,
    { lanes: 'feeds', name: 'named' },
    { org_id: 'a', n: 1 },
    { key: 'one of it', runAt },
  )
  await addLongJob(
    store.system,
    { lanes: 'feeds', name: 'named' },
    { org_id: 'a', n: 2 },
    { key: 'one of it', runAt },
  )
  expect(
    await store.query({
      text: `select payload, run_at, max_attempts from ${QUEUES.long}._private_jobs where key = 'one of it'`,
    }),
  ).toEqual([{ payload: { org_id: 'a', n: 2 }, run_at: runAt, max_attempts: 25 }])
})

it('nothing outside of this folder knows the inside of graphile-worker', () => {
  const inside =
    /graphile_(worker|groups|long)|_private_jobs|from 'graphile-worker'|import\('graphile-worker'\)/
  const files = globSync('{server/src,cli,contract}/**/*.ts', { exclude: ['**/*.test.ts', '**/testing/**'] })
  expect(files.length).toBeGreaterThan(100)
  const offences = files.filter((file) => inside.test(readFileSync(file, 'utf8')))
  expect(offences.filter((file) => !file.startsWith('server/src/database/queue/'))).toEqual([])
  expect(offences).toContain('server/src/database/queue/pool.ts')
})
