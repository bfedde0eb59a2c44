import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Store } from '../../database/connection/db.ts'
import { defineJob, type Job } from '../../lib/job.ts'
import { purgeChunk } from '../store/purges.ts'

/** The pause between chunks, which leaves the database to requests. */
const PAUSE_MS = 5

/**
 * Removes deleted rows, which are already hidden, chunk by chunk. Nobody sees them, so it is enough to start once a minute.
 */
export function purgeJob(store: Store): Job {
  return defineJob({
    name: 'purge_rows',
    cron: '* * * * *',
    payload: z.unknown(),
    async run(_payload, signal) {
      while (await purgeChunk(store.system)) await sleep(PAUSE_MS, undefined, { signal })
    },
  })
}
