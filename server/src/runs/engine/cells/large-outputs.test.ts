import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { rowsOf } from '#test/builders/rows.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { echo } from '../../../api/testing/exports.ts'
import { defineAction } from '../../../catalog/define.ts'
import { field } from '../../../catalog/fields/fields.ts'
import { done } from '../../../catalog/outcome.ts'
import { output } from '../../../catalog/outputs.ts'
import { CELLS } from '../../store/flight-row.ts'
import { createLargeOutputs } from './large-outputs.ts'

const swell = defineAction({
  id: 'swell',
  name: 'Swell',
  description: 'Gives as many characters as it is told.',
  category: 'data',
  credits: 0,
  inputs: { length: field.text({ label: 'Length', help: 'How many.' }) },
  outputs: { said: output.text('A text.') },
  run: ({ inputs }) => done({ said: 'x'.repeat(Number(inputs.length)) }),
})
const app = await makeApp({ services: { catalogue: catalogueOf(echo, swell) } })
await startTestWorker(app)
const org = await app.makeOrg()
const { addRows, makeSheet, list } = rowsOf(org)

const noise = (bytes: number) => `x${randomBytes(bytes / 2).toString('hex')}`
/** Three kinds of outputs that claims do not read: stored outside of the record, compressed, and both. */
const TEXTS = [noise(9000), 'x'.repeat(5000), `${noise(30_000)}${'x'.repeat(100_000)}`]

async function makeChain(texts: string[]): Promise<{ base: string; rowIds: string[] }> {
  const base = await makeSheet(['text'])
  const steps = ['{"said": "{{input.text}}"}', '{"said": "{{echo_1.said}}, again"}']
  for (const json of steps)
    await org.call('POST', `${base}/actions/add`, { action_id: 'echo', inputs: { json } })
  return {
    base,
    rowIds: await addRows(
      base,
      texts.map((text) => ({ text })),
    ),
  }
}

/** Returns what a claim of the row would read of its cells. */
async function readCells(rowId: string): Promise<string> {
  const [row] = await app.store.query<{ cells: string }>({
    text: `select ${CELLS} as cells from (values ($1::uuid, $2::uuid)) as i (o, r)`,
    values: [org.orgId, rowId],
  })
  return row?.cells ?? ''
}

it('a cell reads the large outputs that it names, and claims read none', async () => {
  const { base, rowIds } = await makeChain(TEXTS)
  await org.call('POST', `${base}/run-all`)
  await settledRows(org, base)
  for (const rowId of rowIds) expect((await readCells(rowId)).length).toBeLessThan(200)
  await org.call('PATCH', `${base}/actions/echo_2`, {
    inputs: { json: '{"said": "{{echo_1.said}}, later"}' },
  })
  await org.call('POST', `${base}/actions/echo_2/run`, { row_ids: rowIds })
  await settledRows(org, base)
  for (const [n, row_id] of rowIds.entries()) {
    const { body } = await org.call('GET', `${base}/rows/${row_id}/cells/echo_2/outputs`)
    expect(body.said).toBe(`${TEXTS[n]}, later`)
  }
  expect((await list(base)).rows.map((row: Json) => row.row_status)).toEqual(TEXTS.map(() => 'complete'))
})

it('a reader of large outputs waits until others have released enough', async () => {
  const { base, rowIds } = await makeChain(TEXTS)
  await org.call('POST', `${base}/run-all`)
  await settledRows(org, base)
  const read = createLargeOutputs(app.store, 10_000)
  const wanted = (row: string) => ({ org: org.orgId, row, actions: ['echo_1'], storedBytes: 300_000 })
  const [first = '', second = '', third = ''] = rowIds
  const one = await read(wanted(third))
  expect(one.texts.get('echo_1')).toContain(TEXTS[2])
  let isRead = false
  const waiting = read(wanted(first)).then((held) => {
    isRead = true
    return held
  })
  // A statement that would return after the other if that did not wait.
  await app.store.query({ text: 'select pg_sleep(0.1)' })
  expect(isRead).toBe(false)
  one.release()
  const two = await waiting
  expect(two.texts.get('echo_1')).toContain(TEXTS[0])
  expect((await read(wanted(second))).texts.get('echo_1')).toContain(TEXTS[1])
})

it('a cell whose outputs take over 16 MiB has failed and says so; others of its run go on', async () => {
  const base = await makeSheet(['length'])
  await org.call('POST', `${base}/actions/add`, {
    action_id: 'swell',
    inputs: { length: '{{input.length}}' },
  })
  await addRows(base, [{ length: '17000000' }, { length: '1000' }])
  await org.call('POST', `${base}/run-all`)
  const cells = (await settledRows(org, base)).map((row) => row.cells['swell_1'])
  expect(cells).toMatchObject([
    {
      status: 'failed',
      error:
        'The outputs take more than 16 MiB, which is the limit of a cell. Ask for less, or split it over several rows',
    },
    { status: 'complete' },
  ])
})
