import type { Db } from '../../database/connection/db.ts'
import { addLongJob } from '../../database/queue/long-jobs.ts'
import type { SyncKey } from '../store/source-syncs.ts'
import type { SourceKey } from '../store/sources.ts'

export const PULL_JOB = 'pull_source'
export const DELIVERY_JOB = 'deliver_source_records'

/** Queues the pull of a source, in the caller's transaction. A source has one job: a later call moves its time. */
export async function queuePull(db: Db, { org_id, instance_id }: SourceKey, runAt?: Date): Promise<void> {
  const options = { key: `${PULL_JOB}:${instance_id}`, ...(runAt === undefined ? {} : { runAt }) }
  await addLongJob(db, { lanes: 'feeds', name: PULL_JOB }, { org_id, instance_id }, options)
}

/** Queues the delivery of outstanding records to a workflow. */
export async function queueDelivery(
  db: Db,
  { org_id, instance_id, workflow_id }: SyncKey,
  runAt?: Date,
): Promise<void> {
  const options = {
    key: `${DELIVERY_JOB}:${instance_id}:${workflow_id}`,
    ...(runAt === undefined ? {} : { runAt }),
  }
  await addLongJob(db, { lanes: 'feeds', name: DELIVERY_JOB }, { org_id, instance_id, workflow_id }, options)
}
