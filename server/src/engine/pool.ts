import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CronItem, Logger, parseCronItems, run, type Task, type WorkerEvents } from 'graphile-worker'
import { reasonOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { JobConnections } from './job-connections.ts'
import { TAKEN_OVER } from './step.ts'

/** The pools of this process by the ids that they sign their jobs with. */
export type Crew = { join(id: string): void; leave(id: string): void }

export type PoolOptions = {
  databaseUrl: string
  log: Log
  crew: Crew
  /** The schema that its jobs are in. */
  queue: string
  /** Jobs at once. */
  size: number
  /** Jobs that are taken together, ahead of those at work; 0 where another process had better take them. */
  ahead: number
  /** Told of a job how many times it has been taken up. */
  tasks: Record<string, (payload: unknown, taken: number) => Promise<void>>
  /** Tasks that start by the clock, each time once among all processes. */
  cron?: CronItem[]
}

export type Pool = { stop(): Promise<void> }

const PAUSE_MS = 500

/**
 * A pool of graphile-worker that lasts: when a connection is lost in a way that may have left jobs locked, another takes its
 * place, and what the former still has locked is given back once its rows are parked.
 */
export async function startPool(options: PoolOptions): Promise<Pool> {
  const stopping = new AbortController()
  let current = await open(options)
  const former: Promise<void>[] = []
  const lasting = (async () => {
    for (;;) {
      await current.ended
      former.push(current.cleared)
      if (stopping.signal.aborted) return
      options.log.warn('a pool of workers lost the database; another takes its place')
      const next = await reopen()
      if (next === null) return
      current = next
    }
  })()

  async function reopen() {
    while (!stopping.signal.aborted) {
      try {
        return await open(options)
      } catch (cause) {
        options.log.warn({ cause: reasonOf(cause) }, 'workers could not be started; it is tried again')
        await sleep(PAUSE_MS)
      }
    }
    return null
  }

  return {
    async stop() {
      stopping.abort()
      await current.stop()
      await lasting
      await Promise.all(former)
    },
  }
}

async function open({ databaseUrl, log, crew, queue, size, ahead, tasks, cron = [] }: PoolOptions) {
  const lost = Promise.withResolvers<void>()
  // Rows use the engine's own connections; these only take jobs and give them back.
  const connections = new JobConnections(databaseUrl, lost.resolve)
  const events: WorkerEvents = new EventEmitter()
  const ids: string[] = []
  events.on('pool:create', ({ workerPool }) => {
    ids.push(workerPool.id)
    crew.join(workerPool.id)
  })
  events.on('pool:fatalError', () => lost.resolve())

  const walks = new Set<Promise<void>>()
  const taskList = mapValues(tasks, (task): Task => async (payload, helpers) => {
    const walk = task(payload, helpers.job.attempts)
    walks.add(walk)
    await walk.finally(() => walks.delete(walk))
  })
  let stopping = false
  const runner = await run({
    pgPool: connections,
    preset: {
      worker: {
        schema: queue,
        pollInterval: 1000,
        completeJobBatchDelay: 5,
        failJobBatchDelay: 5,
        concurrentJobs: size,
        localQueue: { size: ahead === 0 ? -1 : ahead },
      },
    },
    taskList,
    parsedCronItems: parseCronItems(cron),
    events,
    logger: quietLogger(log, () => stopping),
    noHandleSignals: true,
  }).catch(async (cause: unknown) => {
    await connections.close()
    throw cause
  })
  const ran = runner.promise.catch((cause: unknown) =>
    log.warn({ cause: reasonOf(cause) }, 'a pool of workers ended with an error'),
  )
  const ended = Promise.race([ran, lost.promise])
  const stop = async () => {
    stopping = true
    // It refuses to stop only when it is ending already.
    await runner.stop().catch(() => undefined)
  }
  // Rows that are being walked stay this pool's until they are parked.
  const clear = async () => {
    await ended
    await stop()
    while (walks.size > 0) await Promise.allSettled(walks)
    for (const id of ids) crew.leave(id)
    await connections.close()
  }
  const cleared = clear()
  return {
    ended,
    cleared,
    async stop() {
      await stop()
      await cleared
    },
  }
}

function mapValues<From, To>(record: Record<string, From>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}

/**
 * Its own lines are for its developers; warnings and errors are for ours. While it stops it complains when it has jobs in
 * hand, which it then leaves locked: those are given back for it.
 */
export function quietLogger(log: Log, isStopping = () => false): Logger {
  return new Logger((scope) => (level, message) => {
    const line = { worker: scope.label }
    if (isStopping() || message.includes(TAKEN_OVER)) log.debug(line, message)
    else if (level === 'error') log.error(line, message)
    else if (level === 'warning' && !message.includes('maxPoolSize')) log.warn(line, message)
  })
}
