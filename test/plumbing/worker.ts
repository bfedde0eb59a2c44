import { parseEgressAllow } from '#server/lib/egress/addresses.ts'
import { openOutside } from '#server/process/outside.ts'
import { startWork, type Work } from '#server/process/work.ts'
import { atEnd } from './at-end.ts'
import type { TestApp, TestOrg } from './harness.ts'

/**
 * Starts a worker on the database of an app, like a worker process. Its outgoing calls may reach loopback.
 */
export async function startTestWorker(
  { services, databaseUrl }: TestApp,
  options: { concurrency?: number; silenceMs?: number } = {},
): Promise<Work> {
  const { concurrency = 50, ...rest } = options
  const LOAM_EGRESS_ALLOW = parseEgressAllow('127.0.0.1').entries
  const config = { ...services.config, LOAM_CONCURRENCY: concurrency, LOAM_EGRESS_ALLOW }
  const outside = await openOutside({ ...services, config })
  const work = await startWork({ ...services, config, databaseUrl, outside, ...rest })
  atEnd(async () => {
    await work.stop()
    await outside.close()
  })
  return work
}

/** Waits until no row of the sheet is queued or running. Returns all its rows. */
export async function settledRows(org: TestOrg, base: string, seconds = 200) {
  const deadline = Date.now() + seconds * 1000
  for (;;) {
    const asked = Date.now()
    const { body } = await org.call('POST', `${base}/rows/list`, { page_size: 200 })
    const rows: { row_id: string; row_status: string; inputs: object; cells: Record<string, never> }[] =
      body.data.rows
    if (rows.every((row) => row.row_status !== 'running')) return rows
    if (Date.now() > deadline)
      throw new Error(`rows are still running: ${JSON.stringify(rows.slice(0, 3)).slice(0, 2000)}`)
    // Most of the time is left to the worker, also where the rows take long to read.
    const pauseMs = Math.max(20, 3 * (Date.now() - asked))
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
