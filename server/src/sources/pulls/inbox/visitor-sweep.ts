import { z } from 'zod'
import type { Store } from '../../../database/connection/db.ts'
import { defineJob, type Job } from '../../../lib/job.ts'
import { forgetVisitors } from '../../store/source-lookups.ts'

/** Deletes the visitor data whose retention has ended. */
export function visitorSweep(store: Store): Job {
  return defineJob({
    name: 'forget_visitors',
    cron: '*/10 * * * *',
    payload: z.unknown(),
    async run(_payload, signal) {
      while (await forgetVisitors(store.system)) signal.throwIfAborted()
    },
  })
}
