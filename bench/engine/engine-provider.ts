import { loadCatalogue } from '#server/catalog/registry.ts'
import { setPrice } from '#server/money/prices.ts'
import { type Call, callOver, runAll, type Step } from '#test/builders/sheets.ts'
import type { Installation } from '#test/plumbing/installation.ts'
import { startServer } from '#test/plumbing/server-process.ts'
import { note } from '../parts/report.ts'
import { count, held, type Line, line } from './engine-line.ts'
import { makeLoad, startLoam } from './engine-load.ts'

/**
 * The room in the limits, as a multiple of what is spent. With exactly as much, the last cells would wait for
 * the reservations of others.
 */
const ROOM = 2
/** The number of cells before the clock starts: code is compiled while it runs. */
const WARM_UP = 1000

/** Measures P3: as many calls in flight as the concurrency allows, all the time. */
export async function measureProvider(
  installation: Installation,
  { cells }: { cells: number },
): Promise<Line[]> {
  const concurrency = 1000
  const provider = await startProvider(1000)
  const { call, stop } = await startLoam(installation, ROOM * cells)
  await runAll(call, await makeLoad(call, WARM_UP, [provider.step]))
  const base = await makeLoad(call, cells, [provider.step])
  const seconds = await runAll(call, base, 50)
  const { peak, calls } = await provider.stats()
  const paid = await measureLimits(installation, call, { cells, step: provider.step })
  await stop()
  await provider.stop()
  if (calls !== WARM_UP + cells)
    throw new Error(`the provider was called ${calls} times for ${WARM_UP + cells} cells`)
  const ideal = cells / concurrency
  const what = `${count(cells)} cells, provider of 1 s, concurrency ${concurrency}: ideal / taken (at most ${peak} at once)`
  const result = `${(ideal / seconds).toFixed(2)} (${ideal.toFixed(1)} s / ${seconds.toFixed(1)} s)`
  const limits = `the same, each cell paid of four limits: ${seconds.toFixed(1)} s / ${paid.toFixed(1)} s`
  return [
    line('P3', what, result, held(ideal / seconds, 0.9, '')),
    line('P3', limits, (seconds / paid).toFixed(2), held(seconds / paid, 0.95, '')),
  ]
}

/** Measures M18: the balance, a cap and two budgets. */
async function measureLimits(
  { store }: Installation,
  call: Call,
  { cells, step }: { cells: number; step: Step },
): Promise<number> {
  await setPrice(store.system, await loadCatalogue(), { action: step.action_id, credits: 1 })
  for (const period of ['day', 'month'])
    await call('POST', '/credits/budgets', { scope: 'organisation', period, limit: ROOM * cells })
  return runAll(call, await makeLoad(call, cells, [step]), 50, 600, { max_credits: ROOM * cells })
}

/**
 * Measures P9: the same work by one worker process and by two. The provider is slow enough to be the
 * bottleneck: on two cores, two workers, the API, PostgreSQL and the provider together can make some 2,000
 * calls per second.
 */
export async function measureWorkers(installation: Installation): Promise<Line[]> {
  const [rows, concurrency, delay] = [12_000, 200, 400]
  const provider = await startProvider(delay)
  const { key } = await installation.makeOrg('Workers')
  const server = await installation.startServer({ LOAM_ROLES: 'api' })
  const call = callOver(server.url, key)
  const workers = []
  const seconds: number[] = []
  for (const number of [1, 2]) {
    workers.push(await installation.startWorker({ LOAM_CONCURRENCY: String(concurrency) }))
    await runAll(call, await makeLoad(call, WARM_UP, [provider.step]))
    const base = await makeLoad(call, rows, [provider.step])
    seconds.push(await runAll(call, base, 50))
    note(`P9: ${number} worker processes: ${seconds.at(-1)?.toFixed(2)} s`)
  }
  for (const worker of workers) worker.child.kill('SIGTERM')
  await Promise.all(workers.map((worker) => worker.ended))
  await server.stop()
  await provider.stop()
  const [one = 0, two = 0] = seconds
  const what = `2 workers / 1, provider of ${delay} ms, ${count(rows)} cells, ${concurrency} at once in each`
  const result = `${(one / two).toFixed(2)} x (${one.toFixed(1)} s / ${two.toFixed(1)} s)`
  return [line('P9', what, result, held(one / two, 1.95, ' x'))]
}

/** Starts a provider in its own process, so that it takes no time from the processes that call it. */
async function startProvider(delayMs: number) {
  const server = await startServer({}, [process.execPath, 'bench/parts/provider-server.ts', String(delayMs)])
  return {
    step: { action_id: 'http_api_call', inputs: { method: 'GET', endpoint: server.url } },
    stats: async () => (await (await fetch(`${server.url}/stats`)).json()) as { calls: number; peak: number },
    stop: () => server.stop(),
  }
}
