import type { Store } from '../connection/db.ts'
import { QUEUES } from './jobs.ts'

const SCHEMAS = Object.values(QUEUES)

/** Selects the locked jobs of all queues: which pool has locked them, since when, and how often they were taken. */
export const LOCKED_JOBS = SCHEMAS.map(
  (schema) =>
    `select locked_by, locked_at, attempts from ${schema}._private_jobs where not is_available and locked_by is not null`,
).join(' union all ')

/** Lists pools that have had jobs locked for at least `ms` although no heartbeat of them was ever recorded. */
export async function listUnknownPools(store: Store, ms: number): Promise<string[]> {
  const found = await store.query<{ locked_by: string }>({
    text: `select distinct locked_by from (${LOCKED_JOBS}) j
      where locked_at < now() - $1 * interval '1 millisecond'
        and not exists (select from workers w where w.worker_id = j.locked_by)`,
    values: [ms],
  })
  return found.map((row) => row.locked_by)
}

/** Unlocks the jobs of these pools for others. */
export async function unlockJobs(store: Store, workerIds: readonly string[]): Promise<void> {
  for (const schema of SCHEMAS) {
    await store.query({ text: `select ${schema}.force_unlock_workers($1::text[])`, values: [workerIds] })
  }
}
