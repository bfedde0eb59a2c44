import { z } from 'zod'
import type { Store } from '../database/connection/db.ts'
import { defineJob, type Job } from '../lib/job.ts'
import { recordLandedRuns } from './run-status.ts'

/** Writes down how runs ended that nobody has looked at since, before their rows are deleted or run again. */
export function shortcutSweep(store: Store): Job {
  return defineJob({
    name: 'shortcut_sweep',
    cron: '* * * * *',
    payload: z.unknown(),
    run: () => recordLandedRuns(store.system),
  })
}
