import { z } from 'zod'
import { defineJob, type Job } from '../lib/job.ts'
import type { Store } from '../store/connection/db.ts'
import { forgetIdleLanes } from '../store/queue/long-jobs.ts'

/** Forgets lanes for long jobs whose organisation has none; they are made again when they are needed. */
export function laneSweep(store: Store): Job {
  return defineJob({
    name: 'sweep_lanes',
    cron: '23 * * * *',
    payload: z.unknown(),
    run: () => forgetIdleLanes(store.system),
  })
}
