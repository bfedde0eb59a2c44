import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseCronItems, run, type Task, type WorkerEvents, type WorkerPool } from 'graphile-worker'
import { reasonOf } from '../../lib/errors.ts'
import { JobPostponed } from '../../lib/job.ts'
import { WORKERS_REPLACED } from '../../lib/log-lines.ts'
import type { Log } from '../../lib/log.ts'
import { JobConnections, formatPostponed } from './job-connections.ts'
import { type Queue, QUEUES } from './jobs.ts'
import { createQueueLog } from './queue-log.ts'
import { listenToOwnQueue } from './wakes.ts'

/** Receives the ids with which pools of this process lock their jobs. */
export type WorkerIds = { add(id: string): void; retire(id: string): void }

export type PoolOptions = {
  databaseUrl: string
  log: Log
  workerIds: WorkerIds
  queue: Queue
  /** The number of jobs at once. */
  size: number
  /** The number of jobs that are taken in advance; 0 if another process should take them. */
  ahead: number
  /** The tasks by name. Each gets the payload and the number of times that the job has been taken. */
  tasks: Record<string, (payload: unknown, taken: number) => Promise<void>>
  /** Tasks that start by the clock, each time once in all processes. */
  cron?: { task: string; match: string }[]
}

export type Pool = { stop(): Promise<void> }

const PAUSE_MS = 500

/**
 * Starts a pool of graphile-worker that lasts. When a connection is lost in a way that may have left jobs locked, a new pool
 * replaces it. Jobs that the old pool still has locked are given back once its rows are parked.
 */
export async function startPool(options: PoolOptions): Promise<Pool> {
  const stopping = new AbortController()
  const stopped = new Promise<void>((resolve) =>
    stopping.signal.addEventListener('abort', () => resolve(), { once: true }),
  )
  const retired: Promise<void>[] = []

  async function reopen() {
    while (!stopping.signal.aborted) {
      try {
        return await open(options)
      } catch (cause) {
        options.log.warn({ cause: reasonOf(cause) }, `cannot start workers; retrying in ${PAUSE_MS} ms`)
        await sleep(PAUSE_MS)
      }
    }
    return undefined
  }

  // Every opened pool passes through here, so each one is stopped, including one that opens while the process ends.
  async function keep(first: OpenPool): Promise<void> {
    for (let current: OpenPool | undefined = first; current !== undefined;) {
      await Promise.race([current.ended, stopped])
      retired.push(current.stop())
      if (!stopping.signal.aborted) options.log.warn(WORKERS_REPLACED)
      current = await reopen()
    }
  }

  const kept = keep(await open(options))
  return {
    async stop() {
      stopping.abort()
      await kept
      await Promise.all(retired)
    },
  }
}

type OpenPool = {
  /** Resolves when the pool can take no more jobs. */
  ended: Promise<void>
  /** Resolves when the pool's rows are parked and its connections closed. */
  stop(): Promise<void>
}

async function open(options: PoolOptions): Promise<OpenPool> {
  const { databaseUrl, log, workerIds, queue, size, ahead, tasks, cron = [] } = options
  const lost = Promise.withResolvers<void>()
  // Rows use the engine's own connections. These connections only take jobs and give them back.
  const connections = new JobConnections({ databaseUrl, queue, log, onLost: lost.resolve })
  const events: WorkerEvents = new EventEmitter()
  const made: WorkerPool[] = []
  events.on('pool:create', ({ workerPool }) => {
    made.push(workerPool)
    workerIds.add(workerPool.id)
  })
  events.on('pool:fatalError', () => lost.resolve())
  listenToOwnQueue(events, QUEUES[queue])

  const inFlight = new Set<Promise<void>>()
  const taskList = mapValues(tasks, (task): Task => async (payload, helpers) => {
    const taken = helpers.job.attempts
    const work = task(payload, taken)
    inFlight.add(work)
    await work
      .catch((cause: unknown) => {
        throw cause instanceof JobPostponed
          ? new JobPostponed(formatPostponed(taken, cause.message), { cause })
          : cause
      })
      .finally(() => inFlight.delete(work))
  })
  let stopping = false
  const runner = await run({
    pgPool: connections,
    preset: {
      worker: {
        schema: QUEUES[queue],
        pollInterval: 1000,
        completeJobBatchDelay: 15,
        failJobBatchDelay: 5,
        concurrentJobs: size,
        localQueue: { size: ahead === 0 ? -1 : ahead },
      },
    },
    taskList,
    parsedCronItems: parseCronItems(cron),
    events,
    logger: createQueueLog(log, () => stopping),
    noHandleSignals: true,
  }).catch(async (cause: unknown) => {
    await connections.close()
    throw cause
  })
  const ran = runner.promise.catch((cause: unknown) => {
    const level = stopping ? 'debug' : 'warn'
    log[level]({ cause: reasonOf(cause) }, 'a pool of workers ended with an error')
  })

  async function stop(): Promise<void> {
    stopping = true
    // Of the runner only its pools are awaited: its cron may rest for a minute after the database was lost. The runner
    // refuses to stop only if it is already ending, and the reason was logged above.
    void runner.stop().catch(() => undefined)
    await Promise.allSettled(made.map((pool) => pool.promise))
    // Rows being walked belong to this pool until they are parked.
    while (inFlight.size > 0) await Promise.allSettled(inFlight)
    await connections.close()
    // Ids are retired only now: a fetch in flight may lock jobs up to its last moment, and the jobs of a retired id are given
    // back only once.
    for (const { id } of made) workerIds.retire(id)
  }
  return { ended: Promise.race([ran, lost.promise]), stop }
}

function mapValues<From, To>(record: Record<string, From>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}
