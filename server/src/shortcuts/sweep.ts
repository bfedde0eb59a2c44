import { z } from 'zod'
import type { Store } from '../database/connection/db.ts'
import { defineJob, type Job } from '../lib/job.ts'
import { recordFinishedRuns } from './run-status.ts'

/** Records the ends of runs that nobody has read, before their rows are deleted or run again. */
export function shortcutSweep(store: Store): Job {
  return defineJob({
    name: 'shortcut_sweep',
    cron: '* * * * *',
    payload: z.unknown(),
    run: () => recordFinishedRuns(store.system),
  })
}
