import { z } from 'zod'
import type { Store } from '../../database/connection/db.ts'
import { defineJob, type Job } from '../../lib/job.ts'
import { forgetExpired } from '../store/row-orders.ts'

/** Forgets orders of rows that nobody has used for 10 minutes, some at a time. */
export function rowOrdersJob(store: Store): Job {
  return defineJob({
    name: 'forget_row_orders',
    cron: '* * * * *',
    payload: z.unknown(),
    async run(_payload, signal) {
      while (!signal.aborted && (await forgetExpired(store.system)));
    },
  })
}
