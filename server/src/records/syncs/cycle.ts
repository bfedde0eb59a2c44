import { z } from 'zod'
import { type Db, isUnavailable, type Store } from '../../database/connection/db.ts'
import { reasonOf } from '../../lib/errors.ts'
import { defineJob, type Job } from '../../lib/job.ts'
import { evaluateSegments } from '../segments/evaluate.ts'
import { deliverCleared } from './batches.ts'
import { retryFailures } from './failures.ts'
import { type FloodLimits, planCycle } from './plan.ts'
import { CYCLE_JOB, queueCycle } from './scheduler.ts'
import { changeSync, findSync, type SyncKey } from './store/syncs.ts'

/** The maximum time of a turn: other jobs wait for the few job slots. */
const TURN_MS = 20_000
const MAX_REASON = 500

export function segmentCycleJob(store: Store, flood: FloodLimits): Job {
  return defineJob({
    name: CYCLE_JOB,
    payload: z.object({ org_id: z.string(), sync_id: z.string() }),
    run: (key, signal) => runCycle(store.org(key.org_id), key, flood, signal),
  })
}

/**
 * Runs the cycle of a sync: evaluates its segment, counts waiting members, clears or holds them, and delivers the
 * cleared ones. It may be interrupted anywhere, and two may run at once: each step is a transaction that checks the
 * current state.
 */
export async function runCycle(db: Db, key: SyncKey, flood: FloodLimits, signal: AbortSignal): Promise<void> {
  const started = performance.now()
  const isTurnOver = () => signal.aborted || performance.now() - started > TURN_MS
  try {
    while (await deliverCleared(db, key, isTurnOver)) {
      const sync = await findSync(db, key)
      if (sync === undefined || sync.state === 'paused_error' || sync.planned_tick === sync.tick) return
      // All waiting members are counted together: a flood must not pass the limit in parts because its evaluation takes
      // several turns.
      const isCurrent = await evaluateSegments(db, key.org_id, sync.segment_id, {
        isOver: isTurnOver,
        signal,
      })
      if (!isCurrent) break
      await retryFailures(db, key, isTurnOver)
      if ((await planCycle(db, key, flood)) === 'nothing') return
    }
  } catch (cause) {
    if (!signal.aborted && !isUnavailable(cause)) await recordFailedCycle(db, key, cause)
    throw cause
  }
  await queueCycle(db, key)
}

/** Records a failed cycle, so that readers of the sync see the reason. Its job and the next tick retry it. */
async function recordFailedCycle(db: Db, key: SyncKey, cause: unknown): Promise<void> {
  const last_import_error = {
    message: 'The cycle failed and is retried',
    reason: reasonOf(cause).slice(0, MAX_REASON),
    at: new Date().toISOString(),
    connection_id: null,
  }
  await changeSync(db, key, 'active', { last_import_error })
}
