import { expect, it } from 'vitest'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { startTestWorker } from '#test/plumbing/worker.ts'
import { exportsOf } from '../../../api/testing/exports.ts'

const app = await makeApp()
await startTestWorker(app)
const org = await app.makeOrg()
const { csv } = exportsOf(app, org)
const { workflow_id: id } = (await org.call('POST', '/workflows', { name: 'Numbers' })).body.data
const sheet = `/workflows/${id}/sheets/${id}`
await org.call('POST', `${sheet}/inputs`, [{ name: 's', type: 'string' }])
await org.call('POST', `${sheet}/actions/add`, {
  action_id: 'normalize_domain',
  inputs: { value: 'a.example' },
})

const LONG = '12345678901234567890'
const NUMBERS = [LONG, '12345678901234567000', '1.50', '5.0', '5', '1e2', '1E+2', '0.0000001', '-0', '1e999']
const rows = NUMBERS.map((number) => `{"s": ${number}}`).join(',')
const { row_ids } = (await org.call('POST', `${sheet}/rows`, `{"rows": [${rows}]}`)).body.data
const idOf = (number: string): string => row_ids[NUMBERS.indexOf(number)]

/** Creates a filter as text: a plain number of JavaScript would lose digits before it is sent. */
const where = (operator: string, values: string, more = '') =>
  `{"filters": [{"variable": "{{input.s}}", "operator": "${operator}", "values": [${values}]}]${more}}`
const valuesOf = ({ body }: { body: Json }): string[] => body.data.rows.map((row: Json) => row.inputs.s)

it.each(NUMBERS)(
  '4.6: `is equal to` the number %s finds the row that was added as it (D28)',
  async (number) => {
    for (const operator of ['is equal to', 'contains any of']) {
      expect(valuesOf(await org.call('POST', `${sheet}/rows/list`, where(operator, number)))).toEqual([
        number,
      ])
    }
    const others = await org.call('POST', `${sheet}/rows/list`, where('not equal to', number))
    expect(others.body.data.total_count).toBe(NUMBERS.length - 1)
  },
)

it('numbers of the same request that are no values stay numbers', async () => {
  const more = ', "page_no": 2.0, "page_size": 1e0'
  const listed = await org.call('POST', `${sheet}/rows/list`, where('contains any of', `${LONG}, 1.50`, more))
  expect(listed.body.data).toMatchObject({ page_no: 2, page_size: 1, total_count: 2 })
  expect(valuesOf(listed)).toEqual(['1.50'])
})

it('as many values as a filter takes, parsed in turns, keep their digits', async () => {
  const values = Array.from({ length: 9999 }, (_, n) => `${10n ** 40n + BigInt(n)}`)
  const listed = await org.call(
    'POST',
    `${sheet}/rows/list`,
    where('contains any of', [...values, LONG].join(',')),
  )
  expect(valuesOf(listed)).toEqual([LONG])
})

it('4.6: runs and exports by such a filter take that row and no other', async () => {
  const capped = ', "max_credits": 10.0'
  const run = await org.call('POST', `${sheet}/run`, where('is equal to', LONG, capped))
  expect([run.status, run.body.data]).toEqual([200, { rows_queued: 1 }])
  const started = await org.call('POST', `${sheet}/rows/list`, { row_ids })
  const ran = started.body.data.rows.filter((row: Json) => row.row_status !== 'pending')
  expect(ran.map((row: Json) => row.row_id)).toEqual([idOf(LONG)])
  const action = `${sheet}/actions/normalize_domain_1/run`
  expect((await org.call('POST', action, where('is equal to', '5.0'))).body.data).toEqual({ rows_queued: 1 })
  const estimate = await org.call('POST', `${sheet}/estimate`, where('is equal to', '1E+2', capped))
  expect([estimate.status, estimate.body.data.rows]).toEqual([200, 1])
  const [, ...exported] = await csv(sheet, where('is equal to', LONG))
  expect(exported.map(([first]) => first)).toEqual([LONG])
})

it.each<[string, string, string]>([
  ['{"filters": [1.50]}', 'filters[0]', 'must be an object'],
  ['{"filters": 1.50, "x": {"values": []}}', 'filters', 'must be an array'],
  [where('is equal to', '[1.50]'), 'filters[0].values[0]', 'must be a string'],
  [
    '{"filters": [{"variable": 1.50, "operator": "is empty", "values": []}]}',
    'filters[0].variable',
    'must be a string',
  ],
  [
    '{"filters": [{"variable": "{{input.s}}", "operator": "is equal to", "values": 5.0}]}',
    'filters[0].values',
    'must be an array',
  ],
  ['{"created_at": {"operator": "equals to", "values": [1.50]}}', 'created_at.values[0]', 'must be a string'],
  [where('is equal to', '5', ', "page_size": 1.50'), 'page_size', 'must be a whole number'],
])('D5: a number elsewhere is refused in the same words: %s', async (body, field, message) => {
  const { status, body: answer } = await org.call('POST', `${sheet}/rows/list`, body)
  expect([status, answer.errors]).toEqual([400, [{ field, message }]])
})
