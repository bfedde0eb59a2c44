import { z } from 'zod'
import type { Store, Db } from '../../database/connection/db.ts'
import { addLongJob } from '../../database/queue/long-jobs.ts'
import { reasonOf } from '../../lib/errors.ts'
import { defineJob, type Job } from '../../lib/job.ts'
import type { Log } from '../../lib/log.ts'
import type { SyncKey } from './store/syncs.ts'
import { listDueSyncs, purgeDeletedSyncs, takeTick } from './store/ticks.ts'

const AT_ONCE = 100

/** Runs each second, because a confirmation or a resumed sync must not wait for the next minute. */
export function segmentScheduleJob(store: Store, cycleSeconds: number, log: Log): Job {
  return defineJob({
    name: 'start_segment_cycles',
    everySecond: true,
    payload: z.undefined(),
    run: (_payload, signal) => startDueCycles(store, cycleSeconds, log, signal),
  })
}

/** Takes every due tick. Any number of processes may do so at once: each tick, with its job, goes to one of them. */
export async function startDueCycles(
  store: Store,
  cycleSeconds: number,
  log: Log,
  signal?: AbortSignal,
): Promise<void> {
  for (const key of await listDueSyncs(store.system, AT_ONCE)) {
    if (signal?.aborted) return
    try {
      await store
        .org(key.org_id)
        .transaction()
        .execute(async (trx) => {
          if (await takeTick(trx, key, cycleSeconds)) await queueCycle(trx, key)
        })
    } catch (cause) {
      const about = { sync_id: key.sync_id, cause: reasonOf(cause) }
      log.warn(about, 'the cycle of a segment sync failed to start; it is retried')
    }
  }
}

/** Runs each hour: removes the records of deleted syncs. */
export function segmentSyncSweep(store: Store): Job {
  return defineJob({
    name: 'sweep_segment_syncs',
    cron: '17 * * * *',
    payload: z.unknown(),
    run: async (_payload, signal) => {
      while (await purgeDeletedSyncs(store.system)) signal.throwIfAborted()
    },
  })
}

export const CYCLE_JOB = 'run_segment_cycle'

/** Queues the cycle of a sync, in the caller's transaction. At most one job of it waits at a time. */
export async function queueCycle(db: Db, { org_id, sync_id }: SyncKey): Promise<void> {
  await addLongJob(
    db,
    { lanes: 'feeds', name: CYCLE_JOB },
    { org_id, sync_id },
    { key: `${CYCLE_JOB}:${sync_id}` },
  )
}
