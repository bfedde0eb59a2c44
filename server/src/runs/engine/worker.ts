import type { HandOver } from '../../database/queue/hand-over.ts'
import { createWorkerIds, type HeartbeatOptions, startHeartbeat } from '../../database/queue/heartbeat.ts'
import { LONG_JOBS_AT_ONCE } from '../../database/queue/long-jobs.ts'
import { type Pool, type PoolOptions, startPool } from '../../database/queue/pool.ts'
import { isOn } from '../../lib/fast-parts.ts'
import { type Job, JobPostponed } from '../../lib/job.ts'
import { startPoll } from '../../lib/timing/poll.ts'
import { workAs } from '../../lib/timing/thread-watch.ts'
import { groupRows } from '../row-jobs.ts'
import { TEST_JOB, TESTS_AT_ONCE } from '../store/cell-tests.ts'
import type { Engine } from './engine-context.ts'
import { HandedRowTaker } from './fast/handed-rows.ts'
import { createRowTasks } from './row-tasks.ts'

export type WorkerOptions = HeartbeatOptions & {
  engine: Engine
  /**
   * The number of cells at work at once in this process. Rows that wait for their turn or for the database come on top.
   */
  concurrency: number
  /** Further work, a few jobs at a time. `ending` aborts when the process ends. */
  jobs: { list: readonly Job[]; ending: AbortSignal }
  /** Runs the tests of actions. */
  runTest?: (payload: unknown) => Promise<void>
  /** The place where requests of this process hand over rows. */
  handOver?: HandOver
}

export type RowWorker = { stop(): Promise<void> }

const EXPRESS = 64
const POLL_MS = 1000
const IDLE_POLL_MS = 100
/**
 * Rows in flight per place for calls. Groups that wait for their slowest row, or for the database, must not leave
 * places empty.
 */
const AHEAD = 2
/**
 * The limits for calls that are answered at once: most rows wait for the database, and more of them share a statement.
 * With 1,024 rows places for calls were empty again and again; with 2,048 rows live longer, and the garbage collector
 * takes what is gained. P12: 16% more cells a second, won 5 of 7 rounds in turns, with as much processor time (2 x86_64
 * cores beside others, 2026-11-19).
 */
const QUICK_CALLS = { ahead: 6, maxRows: 1536 }

/**
 * Takes jobs from the queue. There are five pools: one for groups of rows, which are the bulk of a run; one for rows
 * that have a job of their own; one that takes only the first rows of each run; one for long jobs; and one for tests. Heartbeats tell
 * living processes from dead ones, whose jobs go back at once.
 */
export async function startWorker(options: WorkerOptions): Promise<RowWorker> {
  const { engine, jobs, log, handOver } = options
  const workerIds = createWorkerIds()
  const pools: Pool[] = []
  const stopPools = () => Promise.all(pools.map((pool) => pool.stop()))
  try {
    for (const pool of poolsOf(options)) pools.push(await startPool({ ...options, workerIds, ...pool }))
    if (handOver !== undefined && isOn('handed-rows'))
      pools.push(new HandedRowTaker({ ...options, workerIds, handOver }))
  } catch (cause) {
    await stopPools()
    throw cause
  }
  const heartbeat = startHeartbeat(
    { ...options, holderIds: () => engine.reservations.holderIds() },
    workerIds,
  )
  const keeping = [
    startPoll({ name: 'leases', ms: POLL_MS, log }, () => engine.reservations.tick()),
    startPoll({ name: 'idle leases', ms: IDLE_POLL_MS, log }, () => engine.reservations.giveBackIdle()),
  ]
  const polls = jobs.list
    .filter((job) => job.everySecond)
    .map(({ name, run }) => startPoll({ name, ms: POLL_MS, log }, (signal) => run(undefined, signal)))
  return {
    async stop() {
      await Promise.all([stopPools(), ...polls.map((poll) => poll.stop())])
      await Promise.all(keeping.map((poll) => poll.stop()))
      await engine.flush()
      await heartbeat.stop()
    },
  }
}

type PoolKind = Pick<PoolOptions, 'queue' | 'size' | 'ahead' | 'tasks' | 'cron'>

function poolsOf({ store, engine, concurrency, runTest, jobs: { list, ending } }: WorkerOptions): PoolKind[] {
  const { row, express, rows } = createRowTasks(store, engine)
  const tasksOf = (some: readonly Job[]) =>
    Object.fromEntries(some.map((job) => [job.name, (payload: unknown) => runJob(job, payload, ending)]))
  const byClock = list.filter((job) => job.cron !== undefined)
  const byName = list.filter((job) => job.cron === undefined && !job.everySecond)
  const groupsOf = (rows: number) => Math.ceil(rows / groupRows())
  const { ahead, maxRows } = QUICK_CALLS
  const quickRows = isOn('quick-calls') ? Math.min(ahead * concurrency, maxRows) : 0
  const rowsAtWork = Math.max(AHEAD * concurrency, quickRows)
  const pools: PoolKind[] = [
    { queue: 'groups', size: groupsOf(rowsAtWork), ahead: groupsOf(AHEAD * concurrency), tasks: { rows } },
    {
      queue: 'jobs',
      size: concurrency,
      ahead: concurrency,
      // Sweeps are short and go with the rows; imports and exports may take an hour, and have a queue of their own.
      tasks: { row, row_express: express, ...tasksOf(byClock) },
      cron: byClock.map(({ name, cron: match = '' }) => ({ task: name, match })),
    },
    { queue: 'jobs', size: Math.min(concurrency, EXPRESS), ahead: EXPRESS, tasks: { row_express: express } },
  ]
  if (byName.length > 0)
    pools.push({ queue: 'long', size: LONG_JOBS_AT_ONCE, ahead: 0, tasks: tasksOf(byName) })
  // Tests have workers of their own: however many there are, rows do not wait for them.
  if (runTest !== undefined)
    pools.push({ queue: 'long', size: TESTS_AT_ONCE, ahead: TESTS_AT_ONCE, tasks: { [TEST_JOB]: runTest } })
  return pools
}

async function runJob({ name, run }: Job, payload: unknown, ending: AbortSignal): Promise<void> {
  await workAs(`job ${name}`, () => run(payload, ending)).catch((cause: unknown) => {
    throw ending.aborted
      ? new JobPostponed(`${name} was cut off by the end of its process`, { cause })
      : cause
  })
}
