import { z } from 'zod'
import type { Store } from '../database/connection/db.ts'
import type { Config } from '../lib/config/config.ts'
import { defineJob, type Job } from '../lib/job.ts'
import { endAgentRun, forgetOldAgentRuns, listDeadAgentRuns } from './store/agent-runs.ts'

const GRACE_SECONDS = 60

/** Releases the reservations of runs whose process has died, and deletes runs older than seven days. */
export function agentSweep(store: Store, config: Config): Job {
  const maxSeconds = config.LOAM_AGENT_TIMEOUT_SECONDS + GRACE_SECONDS
  return defineJob({
    name: 'agent_sweep',
    cron: '* * * * *',
    payload: z.unknown(),
    async run() {
      const failure = { model: null, error: 'AGENT_EXECUTION_FAILED', answer: null, trace: null, spent: null }
      for (const run of await listDeadAgentRuns(store.system, maxSeconds))
        await endAgentRun(store.system, run, failure)
      await forgetOldAgentRuns(store.system)
    },
  })
}
