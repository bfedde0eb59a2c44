import { expect, it } from 'vitest'
import { makeRowSheet } from '#test/builders/rows.ts'
import { serveHttp } from '#test/doubles/loopback-server.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { faultCatalogue } from '../testing/fault-catalogue.ts'

const app = await makeApp({ services: { catalogue: faultCatalogue } })
// Fewer places than rows: waiting rows must leave one to the row that they wait for.
await startTestWorker(app, { concurrency: 2 })
await startTestWorker(app, { concurrency: 2 })
const org = await app.makeOrg()

type Cell = { status: string; credits_millis: number; cached: boolean }

/** Runs 20 identical rows, on a server that answers the calls in order with these statuses, and after them with 200. */
async function runIdentical(statuses: number[]) {
  let calls = 0
  const { origin } = await serveHttp((_request, response) => {
    response.statusCode = statuses[calls] ?? 200
    calls += 1
    response.setHeader('content-type', 'application/json').end('{}')
  })
  const base = await makeRowSheet(org)
  await org.call('PATCH', base, { cache_enabled: true })
  const added = await org.call('POST', `${base}/actions/add`, {
    action_id: 'polled_call',
    inputs: { url: origin },
  })
  expect(added.status).toBe(201)
  await org.call('POST', `${base}/rows`, { rows: Array.from({ length: 20 }, () => ({ domain: 'same' })) })
  await org.call('POST', `${base}/run-all`)
  return { base, calls: () => calls }
}

async function settledCells(base: string): Promise<Cell[]> {
  await settledRows(org, base, 100)
  return app.store.query({
    text: 'select status, credits_millis, cached from cells where sheet_id = $1',
    values: [base.split('/').at(-1)],
  })
}

it('D27: a claim is held through a retry: one 503, one further call, one charge', async () => {
  const { base, calls } = await runIdentical([503])
  const cells = await settledCells(base)
  expect(cells.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 'complete'))
  expect(calls()).toBe(2)
  expect(cells.filter(({ credits_millis }) => credits_millis > 0)).toHaveLength(1)
  expect(cells.filter(({ cached }) => cached)).toHaveLength(19)
})

it('D27: a claim is held through polls, and row and claim never wait for each other', async () => {
  const { base, calls } = await runIdentical(Array.from({ length: 5 }, () => 202))
  const cells = await settledCells(base)
  expect(cells.filter(({ status }) => status !== 'complete')).toEqual([])
  expect(calls()).toBe(6)
  expect(cells.filter(({ credits_millis }) => credits_millis > 0)).toHaveLength(1)
})

it('D27: if the row with the claim is deleted, another row takes the claim', async () => {
  const { base, calls } = await runIdentical(Array.from({ length: 10_000 }, () => 202))
  await expect.poll(calls).toBeGreaterThan(2)
  const claimants = async () => {
    const rows = await app.store.query<{ row_id: string }>({
      text: 'select row_id from cell_claims join flights using (org_id, row_id, run_id)',
    })
    return rows.map((row) => row.row_id)
  }
  const [first = ''] = await claimants()
  await org.call('POST', `${base}/rows/delete`, { row_ids: [first] })
  await expect.poll(claimants).toEqual([expect.not.stringContaining(first)])
  await org.call('POST', `${base}/stop`)
})
