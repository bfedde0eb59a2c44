import { z } from 'zod'
import type { Store } from '../database/connection/db.ts'
import { defineJob, type Job } from '../lib/job.ts'

/**
 * Defines the job that refreshes the statistics of `flights`. Flights come and go by the thousand. If PostgreSQL last
 * counted them between two runs, it assumes that there are none and plans to scan the whole table for each lookup. So
 * the table is analysed when it holds many flights, in the first second of a large run.
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
