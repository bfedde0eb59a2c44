import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { type Call, callOver, runAll } from '#test/builders/sheets.ts'
import type { Installation } from '#test/plumbing/installation.ts'
import { median } from '../parts/report.ts'
import { count, held, type Line, line } from './engine-line.ts'
import { makeLoad, startLoam } from './engine-load.ts'

const SINGLE_RUNS = 100
/** The number of runs after which all code that is compiled at run time is compiled, as in P1. */
const WARM_RUNS = 400
const SMALL_ROWS = 10
const MAX_SMALL_RUNS = 50
/**
 * The pause before the first poll. A poll costs the machine as much as running the row, so the machine is
 * left alone for the time that it needs anyway.
 */
const QUIET_MS = 5

/** Measures P2: one row and five actions on an idle system. */
export async function measureIdle(installation: Installation): Promise<Line[]> {
  const { server, key, call, stop } = await startLoam(installation)
  const base = await makeLoad(call, 1)
  const client = openQuickClient(server.url, key)
  for (let n = 0; n < WARM_RUNS; n += 1) await runSmall(client.call, base)
  const ms: number[] = []
  for (let n = 0; n < SINGLE_RUNS; n += 1) ms.push(await runSmall(client.call, base))
  await client.close()
  await stop()
  const what = `one row, idle, median of ${SINGLE_RUNS} (as List Rows tells, asked every ms from ${QUIET_MS} ms on)`
  return [line('P2', what, `${median(ms).toFixed(1)} ms`, held(median(ms), 12, ' ms', 'at most'))]
}

/** Opens a cheap client: `fetch` takes 0.7 ms per call, on the processors that the server uses. */
export function openQuickClient(origin: string, key: string): { call: Call; close(): Promise<void> } {
  const pool = new Pool(origin, { connections: 1 })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return {
    async call(method, path, body) {
      const text = body === undefined ? null : JSON.stringify(body)
      const answer = await pool.request({ method, path: `/api/v1${path}`, headers, body: text })
      const answered = await answer.body.text()
      if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${answered}`)
      return JSON.parse(answered)
    },
    close: () => pool.close(),
  }
}

/** Measures P4: a small run of one organisation during a large run of another. */
export async function measureFairness(
  installation: Installation,
  { rows }: { rows: number },
): Promise<Line[]> {
  const { server, call, stop } = await startLoam(installation)
  const other = callOver(server.url, (await installation.makeOrg('Other')).key)
  const small = await makeLoad(other, SMALL_ROWS)
  const large = await makeLoad(call, rows)
  const idle: number[] = []
  for (let n = 0; n < 20; n += 1) idle.push(await runSmall(other, small))
  const over = new AbortController()
  const crowd = runAll(call, large, 100).finally(() => over.abort())
  const isQueued = async () => (await call('GET', `${large}/runs`)).data.length > 0
  while (!(await isQueued())) await sleep(20)
  const busy: number[] = []
  while (!over.signal.aborted && busy.length < MAX_SMALL_RUNS) {
    busy.push(await runSmall(other, small))
    await sleep(100)
  }
  const seconds = await crowd
  await stop()
  const times = median(busy) / median(idle)
  const what = `${SMALL_ROWS}-row run during one of ${count(rows)} rows (${seconds.toFixed(0)} s) / idle, median of ${busy.length}`
  const result = `${times.toFixed(2)} x (${median(busy).toFixed(0)} ms / ${median(idle).toFixed(0)} ms)`
  return [line('P4', what, result, held(times, 3, ' x', 'at most'))]
}

/** Runs all rows of a small sheet. Returns the milliseconds until List Rows reports that none is running. */
export async function runSmall(call: Call, base: string): Promise<number> {
  const started = performance.now()
  await call('POST', `${base}/run-all`)
  await sleep(Math.max(0, QUIET_MS - (performance.now() - started)))
  for (;;) {
    const { data } = await call('POST', `${base}/rows/list`, {})
    const states = (data.rows as { row_status: string }[]).map((row) => row.row_status)
    if (states.every((state) => state === 'complete')) return performance.now() - started
    if (states.includes('has_failures')) throw new Error(`cells of ${base} failed`)
    await sleep(1)
  }
}
