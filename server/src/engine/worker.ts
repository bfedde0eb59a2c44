import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  Logger,
  makeWorkerUtils,
  type Runner,
  run,
  type WorkerEvents,
  type WorkerUtils,
} from 'graphile-worker'
import { reasonOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { finishRuns } from '../runs/queue.ts'
import { isUnavailable, type Store } from '../store/db.ts'
import type { RowJob } from './desk.ts'
import { type Engine, walkRow } from './walk.ts'

export type WorkerOptions = {
  databaseUrl: string
  store: Store
  log: Log
  engine: Engine
  /** Rows in the air at once in this process. */
  concurrency: number
  /** A process that is silent for longer is taken for dead. */
  silenceMs?: number
}

export type RowWorker = { stop(): Promise<void> }

const BEAT_MS = 1000

/**
 * Takes jobs from graphile-worker and walks their rows. Two pools: one for the mass of rows, taken in batches, and one that
 * takes only the first rows of each run. Heartbeats tell the living from the dead, whose jobs go back at once.
 */
export async function startWorker(options: WorkerOptions): Promise<RowWorker> {
  const { databaseUrl, engine, concurrency, log } = options
  const task = async (payload: unknown) => walkRow(engine, payload as RowJob)
  const shared = {
    connectionString: databaseUrl,
    // Rows use the engine's own connections; these only take jobs and give them back.
    maxPoolSize: 4,
    pollInterval: 1000,
    completeJobBatchDelay: 5,
    failJobBatchDelay: 5,
  }
  const holders: string[] = []
  const start = (
    concurrentJobs: number,
    batch: number,
    tasks: Record<string, typeof task>,
  ): Promise<Runner> => {
    const events: WorkerEvents = new EventEmitter()
    // A pool's id is what it signs the jobs with that it holds.
    events.on('pool:create', ({ workerPool }) => holders.push(workerPool.id))
    return run({
      preset: { worker: { ...shared, concurrentJobs, localQueue: { size: batch } } },
      taskList: tasks,
      events,
      logger: quietLogger(log),
      noHandleSignals: true,
    })
  }
  const runners = [
    await start(concurrency, concurrency, { row: task, row_express: task }),
    await start(Math.min(concurrency, 64), 64, { row_express: task }),
  ]
  const pulse = startPulse(options, holders)
  return {
    async stop() {
      await Promise.all(runners.map((runner) => runner.stop()))
      await pulse.stop()
    },
  }
}

/** Beats for the jobs this process holds, gives back those of processes that fell silent, and closes finished runs. */
function startPulse(
  { store, log, databaseUrl, silenceMs = 8000 }: WorkerOptions,
  holders: readonly string[],
) {
  const stopping = new AbortController()
  let utils: WorkerUtils | undefined

  async function beat(): Promise<void> {
    await store.query({
      text: `insert into workers (worker_id) select unnest($1::text[])
        on conflict (worker_id) do update set beat_at = now()`,
      values: [holders],
    })
    const silent = await store.query<{ worker_id: string }>({
      text: `delete from workers where beat_at < now() - $1 * interval '1 millisecond' returning worker_id`,
      values: [silenceMs],
    })
    // Also jobs whose holder left without ever being heard of.
    const orphans = await store.query<{ locked_by: string }>({
      text: `select distinct locked_by from graphile_worker.jobs j
        where locked_by is not null and locked_at < now() - $1 * interval '1 millisecond'
          and not exists (select from workers w where w.worker_id = j.locked_by)`,
      values: [silenceMs],
    })
    const gone = [...silent.map((row) => row.worker_id), ...orphans.map((row) => row.locked_by)]
    if (gone.length > 0) {
      utils ??= await makeWorkerUtils({ connectionString: databaseUrl, logger: quietLogger(log) })
      await utils.forceUnlockWorkers([...new Set(gone)])
      log.warn({ workers: gone.length }, 'workers fell silent; their rows were given to others')
    }
    await finishRuns(store.system)
  }

  const beating = (async () => {
    while (!stopping.signal.aborted) {
      await beat().catch((cause: unknown) => {
        log[isUnavailable(cause) ? 'warn' : 'error'](
          { cause: reasonOf(cause) },
          'a heartbeat failed; it is tried again',
        )
      })
      await sleep(BEAT_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  })()
  return {
    async stop() {
      stopping.abort()
      await beating
      await store.query({ text: 'delete from workers where worker_id = any($1::text[])', values: [holders] })
      await utils?.release()
    },
  }
}

/** Its own lines are for its developers; warnings and errors are for ours. */
function quietLogger(log: Log): Logger {
  return new Logger((scope) => (level, message) => {
    const line = { worker: scope.label }
    if (level === 'error') log.error(line, message)
    else if (level === 'warning' && !message.includes('maxPoolSize')) log.warn(line, message)
  })
}
