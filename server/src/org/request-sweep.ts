import { z } from 'zod'
import { defineJob, type Job } from '../lib/job.ts'
import type { Store } from '../store/connection/db.ts'
import { forgetOldWindows } from '../store/organisation/admission.ts'
import { forgetOldCalls } from '../store/organisation/idempotency.ts'

/** Forgets what was kept of requests for their rate limits and their `Idempotency-Key`. */
export function requestSweep(store: Store): Job {
  return defineJob({
    name: 'sweep_requests',
    cron: '*/10 * * * *',
    payload: z.unknown(),
    async run() {
      await forgetOldCalls(store.system)
      await forgetOldWindows(store)
    },
  })
}
