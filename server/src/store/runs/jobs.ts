import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'

/**
 * Schemas of graphile-worker. Groups of rows wait by the ten thousand, and who looks for another kind of job would look through
 * all of them: they have a queue of their own.
 */
export const QUEUES = { jobs: 'graphile_worker', groups: 'graphile_groups' }

/** Jobs come after rows that wait: rows are many and short, and somebody looks at them. */
const PRIORITY = 0
const MAX_ATTEMPTS = 25

/** Queues a job by its name, in the caller's transaction. With a key there is one of it: a second call changes the first. */
export async function addJob(
  db: Db,
  name: string,
  payload: Record<string, unknown>,
  options: { key?: string; runAt?: Date } = {},
): Promise<void> {
  await sql`select graphile_worker.add_job(${name}, payload => ${JSON.stringify(payload)}::json,
    run_at => ${options.runAt ?? null}::timestamptz, max_attempts => ${MAX_ATTEMPTS},
    job_key => ${options.key ?? null}::text, priority => ${PRIORITY})`.execute(db)
}
