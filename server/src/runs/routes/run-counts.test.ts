import { describe, expect, it } from 'vitest'
import { done, failed } from '#server/catalog/outcome.ts'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { makePaidSheet, PAID, paidAction } from '#test/builders/paid-action.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'

const opened = Promise.withResolvers<void>()
let waiting = 0
let round = 'first'
const random = (most: number): number => Math.floor(Math.random() * (most + 1))

const paid = paidAction(async (text) => {
  if (text === 'wait') {
    waiting += 1
    await opened.promise
  }
  return text.startsWith('bad') ? failed('it was bad') : done({ value: `${round} ${text}` })
})
/** Costs one credit at most, and is asked in a random order by waiting a little. */
const cheap = paidAction(
  async (text) => {
    await new Promise((resolve) => setTimeout(resolve, random(20)))
    return done({ value: `${round} ${text}` })
  },
  { id: 'cheap', credits: 1 },
)

const app = await makeApp({ services: { catalogue: catalogueOf(paid, cheap) } })
await startTestWorker(app)
const org = await app.makeOrg()

const runOf = async (base: string, id: unknown): Promise<Json> =>
  (await org.call('GET', `${base}/runs/${String(id)}`)).body.data
const finished = async (base: string, id: unknown): Promise<Json> => {
  await settledRows(org, base)
  await expect.poll(async () => (await runOf(base, id)).state).toBe('finished')
  return runOf(base, id)
}

describe('H11: the counts of a run speak of rows and cells truly', () => {
  it('a row with two failures is one failed row, and skipped and kept cells are counted', async () => {
    const only = {
      run_if: {
        conditions: [{ conditions: [{ variable: '{{input.x}}', operator: 'is not', values: ['skip'] }] }],
        continue_workflow_if_run_condition_not_met: true,
      },
    }
    const step = { ...PAID, continue_workflow_if_action_fails: true }
    const base = await makePaidSheet(org, { steps: [{ ...step, ...only }, step, step] })
    const rows = ['good', 'bad', 'bad 2', 'skip'].map((x) => ({ x }))
    await org.call('POST', `${base}/rows`, { rows })
    const first = await org.call('POST', `${base}/run-all`)
    expect(await finished(base, first.headers['x-run-id'])).toMatchObject({
      rows_done: 4,
      rows_failed: 2,
      cells_done: 12,
      cells_failed: 6,
      cells_skipped: 1,
      cells_kept: 0,
      rows_out_of_credits: 0,
    })
    // All rows end without credits. Results are kept, failures are not.
    round = 'second'
    const second = await org.call('POST', `${base}/run-all`, { max_credits: 0 })
    const capped = await finished(base, second.headers['x-run-id'])
    expect(capped).toMatchObject({ rows_failed: 0, credits: 0, stopped_by: { kind: 'max_credits' } })
    const cells = (await settledRows(org, base)).flatMap((row) => Object.values<Json>(row.cells))
    expect(cells.filter((cell) => cell.status === 'complete')).toHaveLength(5)
    expect(capped.cells_kept).toBe(cells.filter((cell) => cell.kept === true).length)
    expect(capped.rows_out_of_credits).toBe(4)
  })
})

describe('H12: caps', () => {
  it('a queued cell tells which limit it waits for, and no other cell does', async () => {
    const base = await makePaidSheet(org)
    const rows = ['wait', 'wait', 'wait'].map((x) => ({ x }))
    const added = await org.call('POST', `${base}/rows`, { rows })
    await org.call('POST', `${base}/run-all`, { max_credits: 3 })
    const details = async (): Promise<Json[]> => {
      const found = added.body.data.row_ids.map((id: string) =>
        org.call('GET', `${base}/rows/${id}/cells/paid_1`),
      )
      return (await Promise.all(found)).map(({ body }) => body.data)
    }
    await expect
      .poll(async () => (await details()).filter(({ waiting: why }) => why).length, { timeout: 20_000 })
      .toBe(2)
    for (const { status, waiting: why } of await details())
      if (status === 'queued') expect(why).toEqual({ kind: 'max_credits', needed: 2 })
      else expect(why).toBe(undefined)
    expect(waiting).toBe(1)
    opened.resolve()
    await settledRows(org, base)
    expect((await details()).every((detail) => !('waiting' in detail))).toBe(true)
  })

  it('whatever the cap and the order, nothing that fits is refused and no paid result is lost', async () => {
    const chain = [1, 2].map(() => ({ ...PAID, action_id: 'cheap' }))
    const base = await makePaidSheet(org, { steps: chain })
    const rows = Array.from({ length: 6 }, (_, n) => ({ x: String(n) }))
    await org.call('POST', `${base}/rows`, { rows, run_after_add: 'all' })
    await settledRows(org, base)
    for (const attempt of [0, 1, 2]) {
      round = `round ${attempt}`
      const cap = attempt === 0 ? 3 : random(13)
      const started = await org.call('POST', `${base}/run-all`, { max_credits: cap })
      const run = await finished(base, started.headers['x-run-id'])
      const cells = (await settledRows(org, base)).flatMap((row) => Object.values<Json>(row.cells))
      expect(cells).toHaveLength(12)
      expect(cells.every(({ status, outputs }) => status === 'complete' && outputs.value !== null)).toBe(true)
      const fresh = cells.filter(({ outputs }) => outputs.value.startsWith(round))
      // The whole cap is used: a cell of one credit is refused only when nothing is left.
      expect(fresh, `cap ${cap}`).toHaveLength(Math.min(cap, 12))
      expect(run).toMatchObject({ credits: Math.min(cap, 12), cells_kept: Math.max(0, 12 - cap) })
      expect(cells.filter(({ kept }) => kept)).toHaveLength(run.cells_kept)
    }
  })
})
