import { reasonOf } from '../lib/errors.ts'
import type { Log } from '../lib/log.ts'
import { type Poll, startPoll } from '../lib/timing/poll.ts'
import type { Store } from '../store/connection/db.ts'
import { listUnknownHolders, unlockJobs } from '../store/queue/job-locks.ts'
import type { WorkerIds } from '../store/queue/pool.ts'

const BEAT_MS = 1000

export type HeartbeatOptions = {
  store: Store
  log: Log
  /** A worker process that is silent for longer is taken for dead. */
  silenceMs?: number
}

/** Ids of pools at work, and of those that ended and may have left jobs locked. */
export function createWorkerIds(): WorkerIds & { working: Set<string>; retired: Set<string> } {
  const working = new Set<string>()
  const retired = new Set<string>()
  return {
    working,
    retired,
    add: (id) => void working.add(id),
    retire(id) {
      working.delete(id)
      retired.add(id)
    },
  }
}

/** Says every second that the pools of this process live, and gives the jobs of processes that fell silent to others. */
export function startHeartbeat(
  { store, log, silenceMs = 8000 }: HeartbeatOptions,
  { working, retired }: ReturnType<typeof createWorkerIds>,
): Poll {
  async function beat(): Promise<void> {
    await store.query({
      text: `insert into workers (worker_id) select unnest($1::text[])
        on conflict (worker_id) do update set beat_at = now()`,
      values: [[...working]],
    })
    const silent = await store.query<{ worker_id: string }>({
      text: `delete from workers where beat_at < now() - $1 * interval '1 millisecond' returning worker_id`,
      values: [silenceMs],
    })
    const others = [...silent.map((row) => row.worker_id), ...(await listUnknownHolders(store, silenceMs))]
    await giveBack([...retired, ...others])
    if (others.length > 0)
      log.warn({ workers: others.length }, 'workers fell silent; their rows were given to others')
  }

  async function giveBack(ids: string[]): Promise<void> {
    if (ids.length === 0) return
    await unlockJobs(store, ids)
    await store.query({ text: 'delete from workers where worker_id = any($1::text[])', values: [ids] })
    for (const id of ids) retired.delete(id)
  }

  const beating = startPoll({ name: 'heartbeat', ms: BEAT_MS, log }, beat)
  return {
    async stop() {
      await beating.stop()
      await giveBack([...working, ...retired]).catch((cause: unknown) =>
        log.warn({ cause: reasonOf(cause) }, 'jobs stay locked until other workers miss this one'),
      )
    },
  }
}
