import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '#server/database/connection/db.ts'
import { reasonOf } from '#server/lib/errors.ts'
import type { WorkerChild } from '#server/runs/engine/testing/worker-child.ts'
import { persist, say } from '../checks/installation.ts'

const PATIENCE_SECONDS = 240

/**
 * Starts another worker. A worker that is started while the database comes back ends at once, and a
 * supervisor would start another.
 */
export async function startAnother(start: () => Promise<WorkerChild>): Promise<WorkerChild> {
  const deadline = performance.now() + PATIENCE_SECONDS * 1000
  for (;;) {
    try {
      return await start()
    } catch (cause) {
      if (performance.now() > deadline) throw cause
      say(`started again: ${reasonOf(cause)}`)
      await sleep(500)
    }
  }
}

/** Ends every connection to the database, of any program, except its own. */
export async function cutConnections(store: Store): Promise<void> {
  const text = `select count(pg_terminate_backend(pid)) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`
  await persist(() => store.query({ text, values: [] }))
}
