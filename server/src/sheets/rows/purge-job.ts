import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Store } from '../../database/connection/db.ts'
import { defineJob, type Job } from '../../lib/job.ts'
import { purgeChunk } from '../store/purges.ts'

/** Leaves the database to those who wait for an answer. */
const PAUSE_MS = 5

/** Removes what deletions have hidden, chunk by chunk. Nobody sees it, so the next minute is soon enough. */
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
