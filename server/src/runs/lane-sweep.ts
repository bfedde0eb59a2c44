import { z } from 'zod'
import type { Store } from '../database/connection/db.ts'
import { forgetIdleLanes } from '../database/queue/long-jobs.ts'
import { defineJob, type Job } from '../lib/job.ts'

/**
 * Defines the job that forgets the lanes of organisations without long jobs. Lanes are made again when they are needed.
 */
export function laneSweep(store: Store): Job {
  return defineJob({
    name: 'sweep_lanes',
    cron: '23 * * * *',
    payload: z.unknown(),
    run: () => forgetIdleLanes(store.system),
  })
}
