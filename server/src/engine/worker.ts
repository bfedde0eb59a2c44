import type { Job } from '../lib/job.ts'
import { GROUP_ROWS } from '../runs/queue.ts'
import { QUEUES } from '../store/runs/jobs.ts'
import type { Engine } from './engine-context.ts'
import { createCrew, type PulseOptions, startPulse } from './heartbeat.ts'
import { type PoolOptions, startPool } from './pool.ts'
import { createRowTasks } from './row-tasks.ts'

export type WorkerOptions = PulseOptions & {
  engine: Engine
  /** Cells at work at once in this process; rows that wait for their turn or for the database come on top. */
  concurrency: number
  /** Other work, a few at a time; told when the process ends. */
  jobs?: { list: readonly Job[]; ending: AbortSignal }
}

export type RowWorker = { stop(): Promise<void> }

const JOBS_AT_ONCE = 4
const EXPRESS = 64
const NEVER = new AbortController().signal
/** Groups that wait for their slowest row, or for the database, must not leave cells that could be at work waiting. */
const GROUPS_AHEAD = 2

/**
 * Takes jobs from graphile-worker. Pools: one for groups of rows, the bulk of a run; one for rows that have a job of
 * their own; one that takes only the first rows of each run; and a small one for long jobs. Heartbeats tell the living from
 * the dead, whose jobs go back at once.
 */
export async function startWorker(options: WorkerOptions): Promise<RowWorker> {
  const { databaseUrl, store, engine, concurrency, log, jobs } = options
  const { row, express, rows } = createRowTasks(store, engine)
  const crew = createCrew()
  const pool = (part: Pick<PoolOptions, 'size' | 'ahead' | 'tasks' | 'cron'>, queue = QUEUES.jobs) =>
    startPool({ databaseUrl, log, crew, queue, ...part })
  const { clocked = [], asked = [] } = Object.groupBy(jobs?.list ?? [], ({ cron }) =>
    cron === undefined ? 'asked' : 'clocked',
  )
  const tasksOf = (some: readonly Job[]) =>
    Object.fromEntries(
      some.map((job) => [job.name, (payload: unknown) => job.run(payload, jobs?.ending ?? NEVER)]),
    )
  const cron = clocked.map(({ name, cron: match = '' }) => ({ task: name, match }))
  const groups = GROUPS_AHEAD * Math.ceil(concurrency / GROUP_ROWS)
  // Sweeps are short and ride with the rows; imports and exports may take an hour, and have a pool of their own.
  const pools = [
    await pool({ size: groups, ahead: groups, tasks: { rows } }, QUEUES.groups),
    await pool({
      size: concurrency,
      ahead: concurrency,
      // Groups that were queued before they had a queue of their own.
      tasks: { row, row_express: express, rows, ...tasksOf(clocked) },
      cron,
    }),
    await pool({ size: Math.min(concurrency, EXPRESS), ahead: EXPRESS, tasks: { row_express: express } }),
  ]
  if (asked.length > 0) pools.push(await pool({ size: JOBS_AT_ONCE, ahead: 0, tasks: tasksOf(asked) }))
  const pulse = startPulse(options, crew)
  return {
    async stop() {
      await Promise.all(pools.map((one) => one.stop()))
      await pulse.stop()
    },
  }
}
