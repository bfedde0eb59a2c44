import { z } from 'zod'
import { defineJob, type Job } from '../lib/job.ts'
import type { Store } from '../store/connection/db.ts'
import { forgetOldWindows } from '../store/organisation/admission.ts'
import { forgetOldCalls } from '../store/organisation/idempotency.ts'
import { forgetOldTallies } from '../store/organisation/provider-tallies.ts'
import { forgetOldSignIns } from '../store/organisation/sign-in-links.ts'

/** Forgets what was kept of requests for their rate limits and their `Idempotency-Key`, old sums of providers, and links to sign in. */
export function requestSweep(store: Store): Job {
  return defineJob({
    name: 'sweep_requests',
    cron: '*/10 * * * *',
    payload: z.unknown(),
    async run() {
      await forgetOldCalls(store.system)
      await forgetOldWindows(store)
      await forgetOldTallies(store.system)
      await forgetOldSignIns(store.system)
    },
  })
}
