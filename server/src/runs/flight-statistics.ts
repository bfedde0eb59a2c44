import { z } from 'zod'
import type { Store } from '../database/connection/db.ts'
import { defineJob, type Job } from '../lib/job.ts'

/**
 * Flights come and go by the thousand. Where PostgreSQL last counted them between two runs it takes them for none, and plans
 * to look through all of them for each: it is told when there are many, in the first second of a large run.
 */
export function flightStatisticsJob(store: Store): Job {
  return defineJob({
    name: 'count_flights',
    everySecond: true,
    payload: z.undefined(),
    async run() {
      const [found] = await store.query<{ stale: boolean }>({
        name: 'engine-estimate',
        text: `select coalesce(sum(rows_queued), 0) > 500 + 10 * (select greatest(reltuples, 0) from pg_class
            where oid = 'flights'::regclass) as stale
          from runs where state = 'running'`,
      })
      if (found?.stale === true) await store.query({ text: 'analyze flights' })
    },
  })
}
