import { z } from 'zod'
import type { Store } from '../../database/connection/db.ts'
import { defineJob, type Job } from '../../lib/job.ts'
import { forgetVisitors } from '../store/source-lookups.ts'
import { listExpiredSources, listFundedSources, listOverdueSources } from '../store/source-pulls.ts'
import { changeStatus, purgeDeletedSources } from '../store/sources.ts'
import { queuePull } from './jobs.ts'

const AT_ONCE = 500
/** A pull that is this late has lost its job. */
const LATE_SECONDS = 120

/** Runs each minute: ends expired sources, resumes those that have credits again, and queues lost jobs again. */
export function sourceSweep(store: Store): Job {
  return defineJob({
    name: 'sweep_sources',
    cron: '* * * * *',
    payload: z.unknown(),
    run: (_payload, signal) => sweepSources(store, signal),
  })
}

export async function sweepSources(store: Store, signal: AbortSignal): Promise<void> {
  const db = store.system
  for (const key of await listExpiredSources(db, AT_ONCE)) {
    signal.throwIfAborted()
    await db
      .transaction()
      .execute((trx) => changeStatus(trx, key, ['active', 'paused', 'paused_out_of_credits'], 'expired'))
  }
  for (const key of await listFundedSources(db, AT_ONCE)) {
    signal.throwIfAborted()
    await db.transaction().execute(async (trx) => {
      if (await changeStatus(trx, key, ['paused_out_of_credits'], 'active')) await queuePull(trx, key)
    })
  }
  for (const key of await listOverdueSources(db, LATE_SECONDS, AT_ONCE)) {
    signal.throwIfAborted()
    await queuePull(db, key)
  }
  while (await purgeDeletedSources(db)) signal.throwIfAborted()
}

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
