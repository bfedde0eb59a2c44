import { beforeEach, describe, expect, it } from 'vitest'
import { done } from '#server/catalog/outcome.ts'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { paidAction } from '#test/builders/paid-action.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'

let gate = Promise.withResolvers<void>()
let waiting = 0

beforeEach(() => {
  gate = Promise.withResolvers()
  waiting = 0
})

/** An action that answers when the test lets it. */
const slow = paidAction(
  async (text) => {
    waiting += 1
    await gate.promise
    return done({ value: text })
  },
  { id: 'slow', credits: 0 },
)

const app = await makeApp({ services: { catalogue: catalogueOf(slow) } })
await startTestWorker(app)
const org = await app.makeOrg()

async function runRows(actions: number, rows: number): Promise<string> {
  const { data } = (await org.call('POST', '/workflows', { name: 'Stopped' })).body
  const base = `/workflows/${data.workflow_id}/sheets/${data.workflow_id}`
  await org.call('POST', `${base}/inputs`, [{ name: 'x', type: 'string' }])
  for (let n = 0; n < actions; n += 1)
    await org.call('POST', `${base}/actions/add`, { action_id: 'slow', inputs: { text: 'a' } })
  await org.call('PATCH', base, { cache_enabled: false })
  await org.call('POST', `${base}/rows`, {
    rows: Array.from({ length: rows }, (_, n) => ({ x: String(n) })),
    run_after_add: 'all',
  })
  await expect.poll(() => waiting).toBeGreaterThanOrEqual(rows)
  return base
}

const stop = async (base: string): Promise<unknown> => (await org.call('POST', `${base}/stop`)).body.data
const list = async (base: string): Promise<Json[]> =>
  (await org.call('POST', `${base}/rows/list`, {})).body.data.rows
const stateOf = (row: Json) => [row.row_status, row.stopped, Object.keys(row.cells).length]
const countUnfinished = async (base: string): Promise<number> =>
  (await org.call('POST', `${base}/run-all`, { only: 'unfinished', dry_run: true })).body.data.rows

describe('D92: Stop ends a row after its current cell', () => {
  it('a row in its first cell is counted, is stopped at once and for good, and is unfinished', async () => {
    const base = await runRows(2, 5)
    expect(await stop(base)).toEqual({ rows_stopped: 5 })
    expect(await stop(base)).toEqual({ rows_stopped: 0 })
    const all = (state: unknown) => Array.from({ length: 5 }, () => state)
    expect((await list(base)).map(stateOf)).toEqual(all(['running', true, 1]))
    gate.resolve()
    expect((await settledRows(org, base)).map(stateOf)).toEqual(all(['complete', true, 1]))
    expect(await stop(base)).toEqual({ rows_stopped: 0 })
    expect(await countUnfinished(base)).toBe(5)
    expect((await org.call('POST', `${base}/run-all`, { only: 'unfinished' })).body.data).toEqual({
      rows_queued: 5,
    })
    expect((await settledRows(org, base)).map(stateOf)).toEqual(all(['complete', undefined, 2]))
    expect(await countUnfinished(base)).toBe(0)
  })

  it('a row that was stopped in a re-run is unfinished though all its cells have results (D84)', async () => {
    gate.resolve()
    const base = await runRows(2, 2)
    await settledRows(org, base)
    waiting = 0
    gate = Promise.withResolvers()
    await org.call('POST', `${base}/run-all`)
    await expect.poll(() => waiting).toBe(2)
    expect(await stop(base)).toEqual({ rows_stopped: 2 })
    gate.resolve()
    const rows = await settledRows(org, base)
    expect(rows.map(stateOf)).toEqual([0, 1].map(() => ['complete', true, 2]))
    expect(await countUnfinished(base)).toBe(2)
  })

  it('a row in its last cell comes to its end, and was not stopped', async () => {
    const base = await runRows(1, 1)
    expect(await stop(base)).toEqual({ rows_stopped: 0 })
    gate.resolve()
    expect((await settledRows(org, base)).map(stateOf)).toEqual([['complete', undefined, 1]])
    expect(await countUnfinished(base)).toBe(0)
  })
})
