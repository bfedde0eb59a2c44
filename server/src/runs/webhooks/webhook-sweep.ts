import { z } from 'zod'
import type { Store } from '../../database/connection/db.ts'
import { defineJob, type Job } from '../../lib/job.ts'
import { forgetOldKeys } from './store/webhook-deliveries.ts'

/** Defines the job that forgets ids of deliveries after seven days. Senders give up long before. */
export function webhookSweep(store: Store): Job {
  return defineJob({
    name: 'forget_webhook_ids',
    cron: '23 * * * *',
    payload: z.unknown(),
    async run(_payload, signal) {
      while (await forgetOldKeys(store.system)) signal.throwIfAborted()
    },
  })
}
