// R6: one row of a run kills every worker that starts it. It must end as an error after three times, and the
// other rows must keep 90% of the throughput that they have without it.
// npm run faults:r6 [-- --rows 12000]
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startWorkerChild, type WorkerChild } from '#server/runs/engine/testing/worker-child.ts'
import { serveProvider } from '#test/doubles/provider.ts'
import { check, openInstallation, say, sayVerdict } from './checks/installation.ts'

const { values } = parseArgs({ options: { rows: { type: 'string', default: '12000' } } })
const ROWS = Number(values.rows)
const WORKERS = 4
const PROVIDER_MS = 300

const provider = await serveProvider(PROVIDER_MS)
const { url } = provider
const installation = await openInstallation(1_000_000)
const { books, databaseUrl } = installation
const workers: WorkerChild[] = []
const ending = new AbortController()
let deaths = 0

/** Restarts workers that end, as a process manager does. */
async function supervise(index: number): Promise<void> {
  while (!ending.signal.aborted) {
    const worker = await startWorkerChild(databaseUrl, { concurrency: 40, silenceMs: 8000 })
    workers[index] = worker
    await worker.ended
    if (!ending.signal.aborted) deaths += 1
  }
}

/** Runs a sheet to its end. Returns the rows per second until all but the last few were finished. */
async function measure(poisoned: boolean): Promise<number> {
  const before = await books()
  const base = await installation.makeSheet([
    { action_id: 'poison', inputs: { kill: '{{input.kill}}' } },
    { action_id: 'paid_call', inputs: { url } },
  ])
  await installation.addRows(base, ROWS / 2)
  if (poisoned) await installation.addRows(base, 1, { kill: 'yes' })
  await installation.addRows(base, ROWS / 2)
  await installation.call('POST', `${base}/run-all`)
  const began = Date.now()
  const enough = before.charges + ROWS * 0.98
  while ((await books()).charges < enough) await sleep(50)
  const rate = (ROWS * 0.98) / ((Date.now() - began) / 1000)
  while ((await books()).flights > 0) await sleep(200)
  say(`${poisoned ? 'with' : 'without'} the row: ${rate.toFixed(0)} rows/s; workers died ${deaths} times`)
  return rate
}

const supervised = Array.from({ length: WORKERS }, (_, index) => supervise(index))
try {
  await sleep(3000)
  const healthy = await measure(false)
  const poisoned = await measure(true)
  const end = await books()
  check('workers that died', deaths, 3)
  check('cells that are not complete (the row itself)', end.failed, 1)
  check('cells', end.cells, 4 * ROWS + 1)
  check('charges', end.charges, 2 * ROWS)
  check('rows in flight', end.flights, 0)
  check(
    `throughput kept (${((poisoned / healthy) * 100).toFixed(0)}%) is at least 90%`,
    poisoned >= 0.9 * healthy,
    true,
  )
  sayVerdict('R6')
} finally {
  ending.abort()
  for (const worker of workers) worker.child.kill('SIGKILL')
  await Promise.all(supervised)
  provider.close()
  await installation.close()
}
