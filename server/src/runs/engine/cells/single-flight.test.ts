import { expect, it } from 'vitest'
import { makeRowSheet } from '#test/builders/rows.ts'
import { serveHttp } from '#test/doubles/loopback-server.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'

const app = await makeApp()
await startTestWorker(app, { concurrency: 4 })
await startTestWorker(app, { concurrency: 4 })
const org = await app.makeOrg()

async function runIdentical(
  answer: (call: number) => number,
): Promise<{ calls: number; statuses: string[] }> {
  let calls = 0
  const { origin } = await serveHttp((_request, response) => {
    calls += 1
    const status = answer(calls)
    setTimeout(() => {
      response.statusCode = status
      response.setHeader('content-type', 'application/json').end('{"ok":true}')
    }, 50)
  })
  const base = await makeRowSheet(org)
  await org.call('PATCH', base, { cache_enabled: true })
  await org.call('POST', `${base}/actions/add`, {
    action_id: 'http_api_call',
    inputs: { method: 'GET', endpoint: `${origin}/{{input.domain}}` },
  })
  await org.call('POST', `${base}/rows`, { rows: Array.from({ length: 60 }, () => ({ domain: 'same' })) })
  await org.call('POST', `${base}/run-all`)
  const rows = await settledRows(org, base)
  return { calls, statuses: rows.map((row) => row.row_status) }
}

it('D27: identical rows inside one run are computed once, also by two worker processes', async () => {
  const { calls, statuses } = await runIdentical(() => 200)
  expect([calls, new Set(statuses)]).toEqual([1, new Set(['complete'])])
})

it('D85: a failure is not cached: one of the waiting rows takes over, and the others wait for it', async () => {
  const { calls, statuses } = await runIdentical((call) => (call <= 2 ? 404 : 200))
  expect(calls).toBe(3)
  const failures = ['has_failures', 'has_failures']
  expect(statuses.toSorted()).toEqual([...Array.from({ length: 58 }, () => 'complete'), ...failures])
})

it('D25: results from before cache_since are computed again; those from after it are not', async () => {
  let calls = 0
  const { origin } = await serveHttp((_request, response) => {
    calls += 1
    response.setHeader('content-type', 'application/json').end('{"ok":true}')
  })
  const base = await makeRowSheet(org)
  await org.call('PATCH', base, { cache_enabled: true })
  await org.call('POST', `${base}/actions/add`, {
    action_id: 'http_api_call',
    inputs: { method: 'GET', endpoint: `${origin}/{{input.domain}}` },
  })
  await org.call('POST', `${base}/rows`, {
    rows: Array.from({ length: 20 }, (_, n) => ({ domain: `host${n}` })),
  })
  const callsOfRun = async (cache_since: string | null) => {
    calls = 0
    await org.call('PATCH', base, { cache_since })
    await org.call('POST', `${base}/run-all`)
    const rows = await settledRows(org, base)
    expect(new Set(rows.map((row) => row.row_status))).toEqual(new Set(['complete']))
    return calls
  }
  expect(await callsOfRun(null)).toBe(20)
  expect(await callsOfRun(null)).toBe(0)
  expect(await callsOfRun('2024-02-29')).toBe(0)
  expect(await callsOfRun('2999-01-01')).toBe(20)
})
