import type { Store } from '../connection/db.ts'
import { MAX_ATTEMPTS, QUEUES } from './jobs.ts'

const JOBS = `${QUEUES.jobs}._private_jobs`

/**
 * Returns a statement, as part of a larger one, that adds jobs as if a worker had already taken them. Of those in `from` (n,
 * payload, priority) it adds the first, as many as `taker` (id, places) has places. The task is registered by a pool; without
 * one there is no job and no run.
 */
export function handOverStatement(task: string, from: string): string {
  return `insert into ${JOBS} (task_id, payload, priority, max_attempts, attempts, locked_at, locked_by)
    select (select id from ${QUEUES.jobs}._private_tasks where identifier = '${task}'), payload, priority, ${MAX_ATTEMPTS}, 1, now(), taker.id
    from ${from}, taker where n < taker.places order by n
    returning id, payload->>'r' as r`
}

type LockedJob = { id: number; workerId: string }

/**
 * Removes jobs. The commit does not wait for the disk, as with claims: a worker that takes a finished job again finds nothing
 * to do.
 */
const REMOVE = `delete from ${JOBS} j
  using (select set_config('synchronous_commit', 'off', true)) unhurried, unnest($1::bigint[], $2::text[]) as t (id, worker)
  where j.id = t.id and j.locked_by = t.worker`

/**
 * Removes finished jobs. A job that was taken away from a worker believed dead belongs to another worker by now, and stays.
 */
export async function removeJobs(store: Store, jobs: readonly LockedJob[]): Promise<void> {
  const values = [jobs.map(({ id }) => id), jobs.map(({ workerId }) => workerId)]
  await store.query({ name: 'engine-remove-jobs', text: REMOVE, values })
}

/** Gives a job back. Any pool retries it after a second. */
export async function giveJobBack(store: Store, { id, workerId }: LockedJob, reason: string): Promise<void> {
  await store.query({
    text: `update ${JOBS} set locked_at = null, locked_by = null, updated_at = now(), run_at = now() + interval '1 second',
      last_error = $3 where id = $1 and locked_by = $2`,
    values: [id, workerId, reason],
  })
}
