import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Logger, run, type TaskList, type WorkerEvents } from 'graphile-worker'
import { Pool as Connections } from 'pg'
import { reasonOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { TAKEN_OVER } from './walk.ts'

/** The pools of this process by the ids that they sign their jobs with. */
export type Crew = { join(id: string): void; leave(id: string): void }

export type PoolOptions = {
  databaseUrl: string
  log: Log
  crew: Crew
  /** Jobs at once, and as many more taken ahead. */
  size: number
  tasks: TaskList
}

export type Pool = { stop(): Promise<void> }

const PAUSE_MS = 500

/**
 * A pool of graphile-worker that lasts. By itself one ends for ever when it cannot report a job as done, for which one lost
 * connection is enough; then another takes its place.
 */
export async function startPool(options: PoolOptions): Promise<Pool> {
  let stopping = false
  let current = await open(options)
  const lasting = (async () => {
    for (;;) {
      await current.ended
      if (stopping) return
      options.log.warn('a pool of workers ended, as it does when the database is away; another is started')
      const next = await reopen()
      if (next === null) return
      current = next
    }
  })()

  async function reopen() {
    while (!stopping) {
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
      stopping = true
      await current.stop()
      await lasting
    },
  }
}

async function open({ databaseUrl, log, crew, size, tasks }: PoolOptions) {
  const events: WorkerEvents = new EventEmitter()
  const ids: string[] = []
  events.on('pool:create', ({ workerPool }) => {
    ids.push(workerPool.id)
    crew.join(workerPool.id)
  })
  // Rows use the engine's own connections; these only take jobs and give them back. Lent, since a runner that fails to shut
  // down would leave its own open.
  const pgPool = new Connections({ connectionString: databaseUrl, max: 4, connectionTimeoutMillis: 5000 })
  pgPool.on('error', () => undefined)
  pgPool.on('connect', (client) => client.on('error', () => undefined))
  let stopping = false
  const runner = await run({
    pgPool,
    preset: {
      worker: {
        pollInterval: 1000,
        completeJobBatchDelay: 5,
        failJobBatchDelay: 5,
        concurrentJobs: size,
        localQueue: { size },
      },
    },
    taskList: tasks,
    events,
    logger: quietLogger(log, () => stopping),
    noHandleSignals: true,
  }).catch(async (cause: unknown) => {
    await pgPool.end()
    throw cause
  })
  const ended = runner.promise
    .catch((cause: unknown) => log.warn({ cause: reasonOf(cause) }, 'a pool of workers ended with an error'))
    .then(async () => {
      for (const id of ids) crew.leave(id)
      await pgPool.end()
    })
  const stop = async () => {
    stopping = true
    // It refuses to stop only when it is ending already.
    await runner.stop().catch(() => undefined)
    await ended
  }
  return { ended, stop }
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
