import { afterAll } from 'vitest'
import { createSandbox } from '#server/catalog/sandbox.ts'
import { createEngine } from '#server/engine/engine.ts'
import { type RowWorker, startWorker } from '#server/engine/worker.ts'
import { parseEgressAllow } from '#server/lib/egress-addresses.ts'
import { createEgress } from '#server/lib/egress.ts'
import { openStore } from '#server/store/db.ts'
import type { TestApp, TestOrg } from './harness.ts'

/** A worker on the database of an app, as a worker process would be. Outgoing calls may reach loopback. */
export async function startTestWorker(
  app: TestApp,
  options: { concurrency?: number; silenceMs?: number } = {},
): Promise<RowWorker> {
  const { log, catalogue } = app.services
  const ending = new AbortController()
  const store = openStore({ url: app.databaseUrl, log, connections: 6, keyedPlans: true })
  const egress = createEgress({ allow: parseEgressAllow('127.0.0.1').entries })
  const sandbox = createSandbox()
  const engine = createEngine({ store, catalogue, egress, sandbox, log, ending: ending.signal })
  const worker = await startWorker({
    databaseUrl: app.databaseUrl,
    store,
    log,
    engine,
    concurrency: 50,
    ...options,
  })
  let stopped: Promise<void> | undefined
  const stop = async () => {
    ending.abort()
    await worker.stop()
    await Promise.all([egress.close(), sandbox.close()])
    await store.close()
  }
  afterAll(() => (stopped ??= stop()))
  return { stop: () => (stopped ??= stop()) }
}

/** Waits until no row of the sheet is queued or running, and answers all its rows. */
export async function settledRows(org: TestOrg, base: string, seconds = 20) {
  const deadline = Date.now() + seconds * 1000
  for (;;) {
    const { body } = await org.call('POST', `${base}/rows/list`, { page_size: 200 })
    const rows: { row_id: string; row_status: string; inputs: object; cells: Record<string, never> }[] =
      body.data.rows
    if (rows.every((row) => row.row_status !== 'running')) return rows
    if (Date.now() > deadline) throw new Error(`rows are still running: ${JSON.stringify(rows.slice(0, 3))}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
