import { describe, expect, it } from 'vitest'
import { makeApp, type Json } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { formula } from '../../api/testing/shortcut.ts'
import { F1, runSheetsOf } from '../testing/run-sheets.ts'

const app = await makeApp()
await startTestWorker(app)
const org = await app.makeOrg()
const { makeSheet, addRows } = runSheetsOf(org)

describe('actions that read or write sheets', () => {
  it('send_to_sheet adds a row per item, runs them on a sheet with auto_run, and ends after 10 hops (D36)', async () => {
    const base = await makeSheet([formula('[{"who": "a"}, {"who": "b"}]')])
    const workflowId = base.slice(-36)
    const made = await org.call('POST', `/workflows/${workflowId}/sheets`, { name: 'child', auto_run: true })
    const childId: string = made.body.data.sheet_id
    const child = `/workflows/${workflowId}/sheets/${childId}`
    await org.call('POST', `${child}/inputs`, [{ name: 'name', type: 'string' }])
    const mapping = (value: string) => [{ name: 'name', value }]
    const send = (at: string, inputs: object) =>
      org.call('POST', `${at}/actions/add`, { action_id: 'send_to_sheet', inputs })
    await org.call('POST', `${base}/actions/add`, {
      action_id: 'raw_to_structured_array',
      inputs: { array: `{{${F1}.formatted_data}}` },
    })
    await send(base, {
      target_sheet_id: childId,
      expand_from: '{{raw_to_structured_array_1.list}}',
      field_mapping: mapping('Dr {{raw_to_structured_array_1.list.who}}'),
    })
    await addRows(base, [{}], { run_after_add: 'all' })
    const [row] = await settledRows(org, base)
    expect(row?.cells['send_to_sheet_1']).toMatchObject({ status: 'complete', outputs: { rows_created: 2 } })
    const names = async () =>
      (await settledRows(org, child)).map((one) => (one.inputs as { name: string }).name)
    expect(await names()).toEqual(['Dr a', 'Dr b'])

    await send(child, { target_sheet_id: childId, field_mapping: mapping('{{input.name}}!') })
    await org.call('POST', `${child}/rows/delete-all`)
    await addRows(child, [{ name: 'x' }])
    await expect.poll(async () => (await names()).at(-1)).toBe('x!!!!!!!!!!')
    const last = (await settledRows(org, child)).at(-1)
    expect(last?.cells['send_to_sheet_1']).toEqual({
      status: 'failed',
      error: expect.stringContaining('10 times'),
    })
  })

  it('auto_dedupe_rows tells the first row from later ones, under concurrency too, and can delete them', async () => {
    const inputs = { auto_dedupe_columns: ['name'], ignore_case: true }
    const base = await makeSheet([{ action_id: 'auto_dedupe_rows', inputs }])
    await addRows(
      base,
      Array.from({ length: 40 }, (_, n) => ({ name: n % 2 === 0 ? 'Ada' : 'ADA' })),
      { run_after_add: 'all' },
    )
    const types = (await settledRows(org, base)).map(
      (one) => (one.cells['auto_dedupe_rows_1'] as Json).outputs.value_type,
    )
    expect(types.filter((type) => type === 'unique')).toHaveLength(1)
    const action = `${base}/actions/auto_dedupe_rows_1`
    await org.call('PATCH', action, { inputs: { select_dedupe_action: 'delete_duplicate' } })
    await org.call('POST', `${base}/run-all`)
    await expect.poll(async () => (await settledRows(org, base)).length).toBe(1)
  })

  it('lookup_rows_in_sheet finds rows of another sheet by their inputs and outputs', async () => {
    const target = await makeSheet([formula('{{input.name}}.length')])
    await addRows(target, [{ name: 'Ada' }, { name: 'Grace' }, { name: 'Ada' }], { run_after_add: 'all' })
    await settledRows(org, target)
    const leaf = (variable: string, value: string) => ({ variable, operator: 'is', values: [value] })
    const conditions = [
      { conditions: [leaf('{{input.name}}', '{{input.name}}'), leaf(`{{${F1}.formatted_data}}`, '3')] },
    ]
    const base = await makeSheet([
      { action_id: 'lookup_rows_in_sheet', inputs: { target_sheet_id: target.slice(-36), conditions } },
    ])
    await addRows(base, [{ name: 'Ada' }, { name: 'Grace' }], { run_after_add: 'all' })
    const found = (await settledRows(org, base)).map(
      (one) => (one.cells['lookup_rows_in_sheet_1'] as Json).outputs,
    )
    expect(found.map((outputs) => [outputs.found, outputs.count])).toEqual([
      [true, 2],
      [false, 0],
    ])
  })
})
