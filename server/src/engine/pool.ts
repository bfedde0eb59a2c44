import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Logger, run, type TaskList, type WorkerEvents } from 'graphile-worker'
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
  const runner = await run({
    preset: {
      worker: {
        connectionString: databaseUrl,
        // Rows use the engine's own connections; these only take jobs and give them back.
        maxPoolSize: 4,
        pollInterval: 1000,
        completeJobBatchDelay: 5,
        failJobBatchDelay: 5,
        concurrentJobs: size,
        localQueue: { size },
      },
    },
    taskList: tasks,
    events,
    logger: quietLogger(log),
    noHandleSignals: true,
  })
  const ended = runner.promise
    .catch((cause: unknown) => log.warn({ cause: reasonOf(cause) }, 'a pool of workers ended with an error'))
    .then(() => {
      for (const id of ids) crew.leave(id)
    })
  // It refuses to stop only when it is ending already.
  const stop = () => runner.stop().catch(() => ended)
  return { ended, stop }
}

/** Its own lines are for its developers; warnings and errors are for ours. */
export function quietLogger(log: Log): Logger {
  return new Logger((scope) => (level, message) => {
    const line = { worker: scope.label }
    if (message.includes(TAKEN_OVER)) log.debug(line, message)
    else if (level === 'error') log.error(line, message)
    else if (level === 'warning' && !message.includes('maxPoolSize')) log.warn(line, message)
  })
}
