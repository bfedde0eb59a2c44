import { expect, it } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp()
const org = await app.makeOrg()
const { workflow_id: id } = (await org.call('POST', '/workflows', { name: 'Large pages' })).body.data
const sheet = `/workflows/${id}/sheets/${id}`
await org.call('POST', `${sheet}/inputs`, [
  { name: 'n', type: 'number' },
  { name: 'text', type: 'string' },
])
// The text compresses to almost nothing, so only its real length counts.
const text = 'x'.repeat(900_000)
const rows = Array.from({ length: 12 }, (_, n) => ({ n, text }))
await org.call('POST', `${sheet}/rows`, { rows })

const list = (body: object) => org.call('POST', `${sheet}/rows/list`, body)
const above = [{ variable: '{{input.n}}', operator: 'greater than', values: ['-1'] }]

it.each([{}, { filters: above }])(
  'a page of more than 8 MiB is 400 and says how many rows would fit: %j',
  async (body) => {
    const whole = await list(body)
    expect([whole.status, whole.body.errors]).toEqual([
      400,
      [
        {
          field: 'page_size',
          message: expect.stringMatching(/8,388,608 bytes: ask for fewer of them, such as \d$/),
        },
      ],
    ])
    const page_size = Number(whole.body.errors[0].message.at(-1))
    const fits = await list({ ...body, page_size })
    expect([fits.status, fits.body.data.rows.length, fits.body.data.total_count]).toEqual([
      200,
      page_size,
      12,
    ])
  },
)

it('pages keep their order and their values, whether rows are large or small', async () => {
  await org.call('POST', `${sheet}/rows`, { rows: [{ n: 12, text: 'small' }] })
  const { body } = await list({ page_no: 4, page_size: 3 })
  expect(body.data.rows.map((row: { inputs: { n: string } }) => row.inputs.n)).toEqual(['9', '10', '11'])
  const last = (await list({ page_no: 5, page_size: 3 })).body.data
  expect(last.rows[0].inputs).toEqual({ n: '12', text: 'small' })
  const first = (await list({ page_size: 1 })).body.data
  expect(first.rows[0].inputs).toEqual({ n: '0', text })
})
