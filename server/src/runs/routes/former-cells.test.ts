import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { done, failed } from '#server/catalog/outcome.ts'
import { forgetFormerCells } from '#server/runs/store/former-cells.ts'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { makePaidSheet, PAID, paidAction } from '#test/builders/paid-action.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'

let gate = Promise.withResolvers<void>()
let waiting = 0
let answer = 'first'

beforeEach(() => {
  gate = Promise.withResolvers()
  waiting = 0
  answer = 'first'
})

/** An action that costs two credits. The test decides what it answers, and whether it waits or fails. */
const paid = paidAction(async (text) => {
  if (answer === 'wait') {
    waiting += 1
    await gate.promise
  }
  return answer === 'bad' ? failed('it was bad') : done({ value: `${answer} ${text}` })
})

const app = await makeApp({ services: { catalogue: catalogueOf(paid) } })
await startTestWorker(app)
const org = await app.makeOrg()

type Sheet = { base: string; ids: string[] }

const goIs = (value: string) => ({
  conditions: [{ conditions: [{ variable: '{{input.go}}', operator: 'is', values: [value] }] }],
})

/** Makes a sheet with a chain of two paid actions, all complete. */
async function makeCompleteSheet(count: number): Promise<Sheet> {
  const steps = [{ ...PAID, run_if: goIs('yes') }, PAID]
  const base = await makePaidSheet(org, { inputs: ['x', 'go'], steps })
  const rows = Array.from({ length: count }, (_, n) => ({ x: String(n), go: 'yes' }))
  const added = await org.call('POST', `${base}/rows`, { rows, run_after_add: 'all' })
  await settledRows(org, base)
  return { base, ids: added.body.data.row_ids }
}

const rowsOf = async (base: string): Promise<Json[]> => settledRows(org, base)
const cellsOf = async (base: string, action: string): Promise<Json[]> =>
  (await rowsOf(base)).map((row) => row.cells[action])
const detailOf = async ({ base, ids }: Sheet, action: string, n = 0): Promise<Json> =>
  (await org.call('GET', `${base}/rows/${ids[n]}/cells/${action}`)).body.data
const restore = ({ base, ids }: Sheet, action: string, n = 0) =>
  org.call('POST', `${base}/rows/${ids[n]}/cells/${action}/restore`)
const runOf = async (base: string, id: unknown): Promise<Json> =>
  (await org.call('GET', `${base}/runs/${String(id)}`)).body.data
const countFormer = async (): Promise<number> =>
  Number((await app.store.query({ text: 'select count(*) as n from former_cells' }))[0]?.['n'])

describe('D84: a re-run keeps the former result of a cell until there is a new one', () => {
  it('a cap loses no result: cells beyond it keep their former result, and the run is resumable', async () => {
    const { base, ids } = await makeCompleteSheet(5)
    answer = 'second'
    const started = await org.call('POST', `${base}/run-all`, { max_credits: 6 })
    const id = started.headers['x-run-id']
    const rows = await rowsOf(base)
    const cells = rows.flatMap((row) => [row.cells.paid_1, row.cells.paid_2])
    expect(cells.map((cell) => cell.status)).toEqual(Array.from({ length: 10 }, () => 'complete'))
    const fresh = cells.filter((cell) => cell.outputs.value.startsWith('second'))
    expect(fresh).toHaveLength(3)
    expect(fresh.every((cell) => cell.kept === undefined)).toBe(true)
    const kept = cells.filter((cell) => cell.kept)
    expect(kept).toHaveLength(7)
    expect(kept[0]).toMatchObject({ kept: true, kept_because: 'out_of_credits' })
    expect(rows.every((row) => row.row_status === 'complete')).toBe(true)
    await expect.poll(async () => (await runOf(base, id)).state).toBe('finished')
    expect(await runOf(base, id)).toMatchObject({ credits: 6, stopped_by: { kind: 'max_credits' } })
    const n = rows.findIndex((row) => row.cells.paid_1.kept)
    const detail = await detailOf({ base, ids }, 'paid_1', n)
    expect(detail).toMatchObject({ kept: true, kept_because: 'out_of_credits', provenance: { credits: 2 } })
    expect(detail.provenance.run_id).not.toBe(id)
    expect(detail.billing.entry_id).not.toBe(null)
    const unfinished = await org.call('POST', `${base}/run-all`, { only: 'unfinished', dry_run: true })
    expect(unfinished.body.data.rows).toBe((await runOf(base, id)).rows_out_of_credits)
    const resumed = await org.call('POST', `${base}/runs/${String(id)}/resume`, { max_credits: null })
    expect(resumed.body.data.rows_queued).toBe((await runOf(base, id)).rows_out_of_credits || 5)
    const all = (await rowsOf(base)).flatMap((row) => [row.cells.paid_1, row.cells.paid_2])
    expect(all.every((cell) => cell.outputs.value.startsWith('second') && cell.kept === undefined)).toBe(true)
    await expect.poll(async () => (await runOf(base, id)).state).toBe('finished')
    expect(await runOf(base, id)).toMatchObject({ credits: 20, cells_done: 10, rows_out_of_credits: 0 })
    // No result is kept that is not needed any more.
    await forgetFormerCells(app.store.system)
    expect(await countFormer()).toBe(0)
  })

  it('a stop restores cells that had not run yet, also those after a running cell', async () => {
    const { base, ids } = await makeCompleteSheet(2)
    answer = 'wait'
    await org.call('POST', `${base}/run`, { row_ids: ids })
    await expect.poll(() => waiting).toBe(2)
    const running = (await org.call('POST', `${base}/rows/list`, {})).body.data.rows
    expect(running.map((row: Json) => row.cells)).toEqual(
      [0, 1].map(() => ({ paid_1: { status: 'running' } })),
    )
    await org.call('POST', `${base}/stop`)
    gate.resolve()
    const rows = await rowsOf(base)
    expect(rows.map((row) => row.cells.paid_1.outputs.value)).toEqual(['wait 0', 'wait 1'])
    expect(rows.map((row) => row.cells.paid_2)).toEqual(
      ['first 0', 'first 1'].map((value) => ({
        status: 'complete',
        outputs: { value },
        kept: true,
        kept_because: 'stopped',
      })),
    )
  })

  it('a condition that skips a cell leaves its former result, and those after it', async () => {
    const { base } = await makeCompleteSheet(1)
    await org.call('PATCH', `${base}/actions/paid_1`, {
      run_if: goIs('no'),
    })
    answer = 'second'
    await org.call('POST', `${base}/run-all`)
    const [row] = await rowsOf(base)
    const kept = { status: 'complete', kept: true, kept_because: 'condition_not_met' }
    expect(row).toMatchObject({
      row_status: 'complete',
      cells: {
        paid_1: { ...kept, outputs: { value: 'first 0' } },
        paid_2: { ...kept, outputs: { value: 'first 0' } },
      },
    })
    const unfinished = await org.call('POST', `${base}/run-all`, { only: 'unfinished', dry_run: true })
    expect(unfinished.body.data.rows).toBe(0)
  })

  it('the former result of a failed or unreached cell is shown and can be restored for 7 days', async () => {
    const sheet = await makeCompleteSheet(3)
    const { base, ids } = sheet
    const before = await detailOf(sheet, 'paid_1')
    expect(before.previous).toBe(undefined)
    answer = 'bad'
    await org.call('POST', `${base}/run-all`)
    expect((await cellsOf(base, 'paid_1')).map((cell) => cell.status)).toEqual(['failed', 'failed', 'failed'])
    const detail = await detailOf(sheet, 'paid_1')
    expect(detail.previous).toEqual({
      status: 'complete',
      outputs: { value: 'first 0' },
      run_id: before.provenance.run_id,
      completed_at: before.provenance.completed_at,
      credits: 2,
    })
    const previous = await org.call('GET', `${base}/rows/${ids[0]}/cells/paid_1/outputs/previous`)
    expect(previous.body).toEqual({ value: 'first 0' })
    // A second failure does not replace the former result.
    await org.call('POST', `${base}/run-all`)
    await settledRows(org, base)
    await forgetFormerCells(app.store.system)
    const path = `${base}/rows/${ids[0]}/cells/paid_1/restore`
    expect((await org.call('POST', path, { force: true })).body.errors[0].field).toBe('force')
    const restored = await restore(sheet, 'paid_1')
    expect([restored.status, restored.body.data]).toEqual([200, before])
    expect((await restore(sheet, 'paid_2')).body.data).toMatchObject({ outputs: { value: 'first 0' } })
    expect((await rowsOf(base))[0]?.row_status).toBe('complete')
    for (const again of ['paid_1', 'none_1'])
      expect((await restore(sheet, again)).body).toMatchObject({ status: 409, error: 'NOTHING_TO_RESTORE' })
    await sql`update former_cells set replaced_at = now() - interval '8 days'`.execute(app.store.system)
    expect((await restore(sheet, 'paid_1', 1)).status).toBe(409)
    expect((await detailOf(sheet, 'paid_1', 1)).previous).toBe(undefined)
    await forgetFormerCells(app.store.system)
    expect(await countFormer()).toBe(0)
  })

  it('a running cell cannot be restored, and a deleted row leaves no former results', async () => {
    const sheet = await makeCompleteSheet(1)
    const { base, ids } = sheet
    answer = 'wait'
    await org.call('POST', `${base}/run-all`)
    await expect.poll(() => waiting).toBe(1)
    expect((await restore(sheet, 'paid_2')).status).toBe(409)
    expect(await countFormer()).toBe(2)
    await org.call('POST', `${base}/rows/delete`, { row_ids: ids })
    gate.resolve()
    expect(await countFormer()).toBe(0)
  })
})
