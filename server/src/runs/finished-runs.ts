import { sql } from 'kysely'
import { z } from 'zod'
import { defineJob, type Job } from '../lib/job.ts'
import { announcing } from '../store/connection/changes.ts'
import type { Db, Store } from '../store/connection/db.ts'

/** Those who wait for a run see its end within a second. */
export function finishedRunsJob(store: Store): Job {
  return defineJob({
    name: 'finish_runs',
    everySecond: true,
    payload: z.undefined(),
    run: () => finishRuns(store.system),
  })
}

/** Marks runs that have no row in the air any more as finished. Cheap: looks only at runs under way. */
async function finishRuns(db: Db): Promise<void> {
  await sql`update runs set state = 'finished', finished_at = now()
    where (org_id, run_id) in (select r.org_id, r.run_id from runs r where r.state = 'running' and r.rows_queued > 0 and r.unlaunched is null
      and not exists (select from flights f where f.org_id = r.org_id and f.run_id = r.run_id)
      for no key update of r skip locked)
    returning ${announcing(sql`sheet_id`)}`.execute(db)
}
