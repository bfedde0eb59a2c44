import { expect, it } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp()
const org = await app.makeOrg()
const { workflow_id: id } = (await org.call('POST', '/workflows', { name: 'Long numbers' })).body.data
const sheet = `/workflows/${id}/sheets/${id}`
await org.call('POST', `${sheet}/inputs`, [{ name: 'n', type: 'number' }])
await org.call('POST', `${sheet}/actions/add`, {
  action_id: 'normalize_domain',
  inputs: { value: 'a.example' },
})
const DIGITS = '9'.repeat(131_073)
const added = await org.call(
  'POST',
  `${sheet}/rows`,
  `{"rows": [{"n": 1}, {"n": ${DIGITS}}, {"n": 0.${DIGITS}}, {"n": "${DIGITS}"}, {"n": 1e999}, {"n": 3}]}`,
)
const [one, , , , huge, three] = added.body.data.row_ids

const above = (value: string) => ({
  filters: [{ variable: '{{input.n}}', operator: 'greater than', values: [value] }],
})

it('a value of 131,073 digits is stored as it is and matches no comparison of numbers', async () => {
  const listed = await org.call('POST', `${sheet}/rows/list`, above('0'))
  expect(listed.status).toBe(200)
  expect(listed.body.data.rows.map((row: { row_id: string }) => row.row_id)).toEqual([one, huge, three])
  const all = await org.call('POST', `${sheet}/rows/list`, {})
  expect(all.body.data.rows[1].inputs.n).toBe(DIGITS)
})

it('runs and exports by such a filter go on beside it', async () => {
  const run = await org.call('POST', `${sheet}/run`, above('2'))
  expect([run.status, run.body.data.rows_queued]).toEqual([200, 2])
  expect((await org.call('POST', `${sheet}/export`, above('2'))).status).toBe(202)
})

it.each([DIGITS, `0.${DIGITS}`, `-${DIGITS}`])(
  'a filter by as long a number is 400: case %#',
  async (value) => {
    const { status, body } = await org.call('POST', `${sheet}/rows/list`, above(value))
    expect([status, body.errors]).toEqual([
      400,
      [{ field: 'filters[0].values', message: '`greater than` takes a number' }],
    ])
  },
)
