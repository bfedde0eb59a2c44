import { setTimeout as sleep } from 'node:timers/promises'
import type { Json } from '../plumbing/harness.ts'

/** Sends a request to the API under `/api/v1`. The response must be 2xx. */
export type Call = (method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown) => Promise<Json>
export type Step = { action_id: string; inputs?: Record<string, unknown> }

const ROWS_PER_CALL = 1000

export const callOver =
  (origin: string, key: string): Call =>
  async (method, path, body) => {
    const response = await fetch(`${origin}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text)
  }

/** Creates a workflow with text inputs and a chain. Returns the path of its sheet. */
export async function makeSheet(call: Call, inputs: string[], chain: Step[] = []): Promise<string> {
  const { data } = await call('POST', '/workflows', { name: 'Sheet' })
  const base = `/workflows/${data.workflow_id}/sheets/${data.workflow_id}`
  await call(
    'POST',
    `${base}/inputs`,
    inputs.map((name) => ({ name, type: 'string' })),
  )
  for (const step of chain) await call('POST', `${base}/actions/add`, step)
  return base
}

/** Adds rows in calls of 1,000, by several callers at once. */
export async function addRows(
  call: Call,
  base: string,
  count: number,
  rowOf: (n: number) => object = () => ({}),
  callers = 1,
): Promise<void> {
  let next = 0
  const add = async () => {
    while (next < count) {
      const from = next
      next = Math.min(count, from + ROWS_PER_CALL)
      const rows = Array.from({ length: next - from }, (_, n) => rowOf(from + n))
      await call('POST', `${base}/rows`, { rows })
    }
  }
  await Promise.all(Array.from({ length: callers }, add))
}

/**
 * Runs every row. Returns the seconds from the request to the last finished cell, as the latest run reports.
 */
export async function runAll(
  call: Call,
  base: string,
  pauseMs = 50,
  limitSeconds = 600,
  body?: { max_credits: number },
): Promise<number> {
  const started = performance.now()
  await call('POST', `${base}/run-all`, body)
  for (;;) {
    const [run] = (await call('GET', `${base}/runs`)).data
    const seconds = (performance.now() - started) / 1000
    if (run.rows_done >= run.rows_queued) return seconds
    if (seconds > limitSeconds)
      throw new Error(`only ${run.rows_done} of ${run.rows_queued} rows are done after ${limitSeconds} s`)
    // Polls sooner when the run is nearly finished, because its end is what is measured.
    const leftMs = (1000 * seconds * (run.rows_queued - run.rows_done)) / Math.max(1, run.rows_done)
    await sleep(Math.min(pauseMs, Math.max(5, leftMs / 2)))
  }
}
