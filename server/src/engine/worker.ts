import { setTimeout as sleep } from 'node:timers/promises'
import { makeWorkerUtils, type WorkerUtils } from 'graphile-worker'
import { reasonOf } from '../lib/errors.ts'
import type { Job } from '../lib/job.ts'
import type { Log } from '../lib/log.ts'
import { finishRuns } from '../runs/queue.ts'
import { isUnavailable, type Store } from '../store/db.ts'
import type { RowJob } from './desk.ts'
import { type PoolOptions, quietLogger, startPool } from './pool.ts'
import { type Engine, MAX_CLAIMS, walkRow } from './walk.ts'

export type WorkerOptions = {
  databaseUrl: string
  store: Store
  log: Log
  engine: Engine
  /** Rows in the air at once in this process. */
  concurrency: number
  /** Other work, a few at a time. */
  jobs?: readonly Job[]
  /** A process that is silent for longer is taken for dead. */
  silenceMs?: number
}

export type RowWorker = { stop(): Promise<void> }

const BEAT_MS = 1000
const JOBS_AT_ONCE = 4

/**
 * Takes jobs from graphile-worker and walks their rows. Pools: one for the mass of rows, taken in batches, and one that
 * takes only the first rows of each run; and a small one for jobs. Heartbeats tell the living from the dead, whose jobs go back at once.
 */
export async function startWorker(options: WorkerOptions): Promise<RowWorker> {
  const { databaseUrl, engine, concurrency, log, jobs = [] } = options
  const alone = createTurns()
  const task = async (payload: unknown, taken: number) => {
    const job = payload as RowJob
    if (taken < MAX_CLAIMS) return walkRow(engine, job)
    const done = await alone()
    return walkRow(engine, job, done).finally(done)
  }
  const crew = createCrew()
  const pool = (size: number, tasks: PoolOptions['tasks'], cron?: PoolOptions['cron']) =>
    startPool({ databaseUrl, log, crew, size, tasks, ...(cron === undefined ? {} : { cron }) })
  const pools = [
    await pool(concurrency, { row: task, row_express: task }),
    await pool(Math.min(concurrency, 64), { row_express: task }),
  ]
  if (jobs.length > 0) {
    const tasks = Object.fromEntries(
      jobs.map((job) => [job.name, (payload: unknown) => job.run(payload, engine.ending)]),
    )
    const cron = jobs.flatMap(({ name, cron: match }) => (match === undefined ? [] : [{ task: name, match }]))
    pools.push(await pool(JOBS_AT_ONCE, tasks, cron))
  }
  const pulse = startPulse(options, crew)
  return {
    async stop() {
      await Promise.all(pools.map((one) => one.stop()))
      await pulse.stop()
    },
  }
}

/**
 * Turns for rows that may have ended their process: two are never at the same cell, so that the one that does it is not
 * taken for those that were in the air with it. Answers, when it is one's turn, how to end it.
 */
function createTurns(): () => Promise<() => void> {
  let last = Promise.resolve()
  return async () => {
    const before = last
    const turn = Promise.withResolvers<void>()
    last = turn.promise
    await before
    return turn.resolve
  }
}

/** Pools at work, and those that ended and may have left jobs behind. */
function createCrew() {
  const holders = new Set<string>()
  const left = new Set<string>()
  return {
    holders,
    left,
    join: (id: string) => void holders.add(id),
    leave(id: string) {
      holders.delete(id)
      left.add(id)
    },
  }
}

/** Beats for the jobs this process holds, gives back those of processes that fell silent, and closes finished runs. */
function startPulse(
  { store, log, databaseUrl, silenceMs = 8000 }: WorkerOptions,
  { holders, left }: ReturnType<typeof createCrew>,
) {
  const stopping = new AbortController()
  let utils: WorkerUtils | undefined

  async function beat(): Promise<void> {
    await store.query({
      text: `insert into workers (worker_id) select unnest($1::text[])
        on conflict (worker_id) do update set beat_at = now()`,
      values: [[...holders]],
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
    const others = [...silent.map((row) => row.worker_id), ...orphans.map((row) => row.locked_by)]
    await giveBack(new Set([...left, ...others]))
    if (others.length > 0)
      log.warn({ workers: others.length }, 'workers fell silent; their rows were given to others')
    await finishRuns(store.system)
  }

  async function giveBack(gone: Set<string>): Promise<void> {
    if (gone.size === 0) return
    utils ??= await makeWorkerUtils({ connectionString: databaseUrl, logger: quietLogger(log) })
    await utils.forceUnlockWorkers([...gone])
    for (const id of gone) left.delete(id)
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
      const ids = [...holders, ...left]
      await giveBack(new Set(ids))
      await store.query({ text: 'delete from workers where worker_id = any($1::text[])', values: [ids] })
      await utils?.release()
    },
  }
}
