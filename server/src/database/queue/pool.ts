import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseCronItems, run, type Task, type WorkerEvents, type WorkerPool } from 'graphile-worker'
import { reasonOf } from '../../lib/errors.ts'
import { JobPostponed } from '../../lib/job.ts'
import type { Log } from '../../lib/log.ts'
import { JobConnections, postponedText } from './job-connections.ts'
import { type Queue, QUEUES } from './jobs.ts'
import { createQueueLog } from './queue-log.ts'
import { hearOwnQueue } from './wakes.ts'

/** Hears of the ids that pools of this process sign their jobs with. */
export type WorkerIds = { add(id: string): void; retire(id: string): void }

export type PoolOptions = {
  databaseUrl: string
  log: Log
  workerIds: WorkerIds
  queue: Queue
  /** Jobs at once. */
  size: number
  /** Jobs that are taken together, ahead of those at work; 0 where another process had better take them. */
  ahead: number
  /** Told of a job how many times it has been taken up. */
  tasks: Record<string, (payload: unknown, taken: number) => Promise<void>>
  /** Tasks that start by the clock, each time once among all processes. */
  cron?: { task: string; match: string }[]
}

export type Pool = { stop(): Promise<void> }

const PAUSE_MS = 500

/**
 * A pool of graphile-worker that lasts: when a connection is lost in a way that may have left jobs locked, another takes its
 * place, and what the former still has locked is given back once its rows are parked.
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
        options.log.warn({ cause: reasonOf(cause) }, 'workers could not be started; it is tried again')
        await sleep(PAUSE_MS)
      }
    }
    return undefined
  }

  // Every pool that is opened goes through here, so that each is stopped, also one that opens while the process ends.
  async function keep(first: OpenPool): Promise<void> {
    for (let current: OpenPool | undefined = first; current !== undefined;) {
      await Promise.race([current.ended, stopped])
      retired.push(current.stop())
      if (!stopping.signal.aborted)
        options.log.warn('a pool of workers lost the database; another takes its place')
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
  /** Resolves when it can take no more jobs. */
  ended: Promise<void>
  /** Resolves when its rows are parked and its connections closed. */
  stop(): Promise<void>
}

async function open(options: PoolOptions): Promise<OpenPool> {
  const { databaseUrl, log, workerIds, queue, size, ahead, tasks, cron = [] } = options
  const lost = Promise.withResolvers<void>()
  // Rows use the engine's own connections; these only take jobs and give them back.
  const connections = new JobConnections({ databaseUrl, queue, log, onLost: lost.resolve })
  const events: WorkerEvents = new EventEmitter()
  const made: WorkerPool[] = []
  events.on('pool:create', ({ workerPool }) => {
    made.push(workerPool)
    workerIds.add(workerPool.id)
  })
  events.on('pool:fatalError', () => lost.resolve())
  hearOwnQueue(events, QUEUES[queue])

  const underWay = new Set<Promise<void>>()
  const taskList = mapValues(tasks, (task): Task => async (payload, helpers) => {
    const taken = helpers.job.attempts
    const work = task(payload, taken)
    underWay.add(work)
    await work
      .catch((cause: unknown) => {
        throw cause instanceof JobPostponed
          ? new JobPostponed(postponedText(taken, cause.message), { cause })
          : cause
      })
      .finally(() => underWay.delete(work))
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
    // Of the runner only its pools are waited for: its cron rests up to a minute after it has lost the database. It refuses to
    // stop only when it is ending already, and why it ended is said above.
    void runner.stop().catch(() => undefined)
    await Promise.allSettled(made.map((pool) => pool.promise))
    // Rows that are being walked stay this pool's until they are parked.
    while (underWay.size > 0) await Promise.allSettled(underWay)
    await connections.close()
    // Only now: a fetch that was still under way may lock jobs up to its last moment, and what is retired is given back once.
    for (const { id } of made) workerIds.retire(id)
  }
  return { ended: Promise.race([ran, lost.promise]), stop }
}

function mapValues<From, To>(record: Record<string, From>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}
