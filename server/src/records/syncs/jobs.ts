import type { Db } from '../../database/connection/db.ts'
import { addLongJob } from '../../database/queue/long-jobs.ts'
import type { SyncKey } from './store/syncs.ts'

export const CYCLE_JOB = 'run_segment_cycle'

/** Queues the cycle of a sync, in the caller's transaction. At most one job of it waits at a time. */
export async function queueCycle(db: Db, { org_id, sync_id }: SyncKey): Promise<void> {
  await addLongJob(db, 'feeds', CYCLE_JOB, { org_id, sync_id }, { key: `${CYCLE_JOB}:${sync_id}` })
}
