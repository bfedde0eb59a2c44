import { setTimeout as sleep } from 'node:timers/promises'
import { makeWorkerUtils, type WorkerUtils } from 'graphile-worker'
import { reasonOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { finishRuns } from '../runs/queue.ts'
import { isUnavailable, type Store } from '../store/connection/db.ts'
import { QUEUES } from '../store/runs/jobs.ts'
import { type Crew, quietLogger } from './pool.ts'

const BEAT_MS = 1000

export type PulseOptions = { databaseUrl: string; store: Store; log: Log; silenceMs?: number }

/** Pools at work, and those that ended and may have left jobs behind. */
export function createCrew(): Crew & { holders: Set<string>; left: Set<string> } {
  const holders = new Set<string>()
  const left = new Set<string>()
  return {
    holders,
    left,
    join: (id) => void holders.add(id),
    leave(id) {
      holders.delete(id)
      left.add(id)
    },
  }
}

/** Beats for the jobs this process holds, gives back those of processes that fell silent, and closes finished runs. */
export function startPulse(
  { store, log, databaseUrl, silenceMs = 8000 }: PulseOptions,
  { holders, left }: ReturnType<typeof createCrew>,
): { stop(): Promise<void> } {
  const stopping = new AbortController()
  let utils: WorkerUtils[] | undefined

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
    const others = [...silent.map((row) => row.worker_id), ...(await listOrphans())]
    await giveBack(new Set([...left, ...others]))
    if (others.length > 0)
      log.warn({ workers: others.length }, 'workers fell silent; their rows were given to others')
    await finishRuns(store.system)
    await refreshEstimate()
  }

  /**
   * Flights come and go by the thousand. Where PostgreSQL last counted them between two runs it takes them for none, and plans
   * to look through all of them for each: it is told when there are many.
   */
  async function refreshEstimate(): Promise<void> {
    const [found] = await store.query<{ stale: boolean }>({
      name: 'engine-estimate',
      text: `select coalesce(sum(rows_queued), 0) > 500 + 10 * (select greatest(reltuples, 0) from pg_class
          where oid = 'flights'::regclass) as stale
        from runs where state = 'running'`,
    })
    if (found?.stale === true) await store.query({ text: 'analyze flights' })
  }

  /** Those whose holder left without ever being heard of. */
  async function listOrphans(): Promise<string[]> {
    const found = await store.query<{ locked_by: string }>({
      text: `select distinct locked_by from (
          select locked_by, locked_at from graphile_worker._private_jobs where not is_available
          union all select locked_by, locked_at from graphile_groups._private_jobs where not is_available) j
        where locked_by is not null and locked_at < now() - $1 * interval '1 millisecond'
          and not exists (select from workers w where w.worker_id = j.locked_by)`,
      values: [silenceMs],
    })
    return found.map((row) => row.locked_by)
  }

  async function giveBack(gone: Set<string>): Promise<void> {
    if (gone.size === 0) return
    utils ??= await Promise.all(
      Object.values(QUEUES).map((schema) =>
        makeWorkerUtils({ connectionString: databaseUrl, schema, logger: quietLogger(log) }),
      ),
    )
    await Promise.all(utils.map((queue) => queue.forceUnlockWorkers([...gone])))
    await store.query({ text: 'delete from workers where worker_id = any($1::text[])', values: [[...gone]] })
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
      await giveBack(new Set([...holders, ...left]))
      for (const queue of utils ?? []) await queue.release()
    },
  }
}
