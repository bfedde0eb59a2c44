import { expect, it } from 'vitest'
import { listTokens } from '../chain/reference-walk.ts'
import { configure, useActions } from '../testing/run-action.ts'
import { createSheets } from '../testing/sheets.ts'
import action from './lookup_rows_in_sheet.ts'

const runAction = useActions()

const log = Array.from({ length: 150 }, (_, n) => ({
  n: String(n),
  domain: n % 50 === 0 ? 'a.com' : 'b.com',
}))
const conditions = (operator: string, ...values: string[]) => [
  { conditions: [{ variable: '{{input.domain}}', operator, values }] },
]
/** The row's own domain differs, so that the result shows whose column a condition names. */
const row = { input: { domain: 'b.com', wanted: 'a.com' } }
const lookup = (inputs: Record<string, unknown>) =>
  runAction(
    'lookup_rows_in_sheet',
    { target_sheet_id: 'log', ...inputs },
    { row, sheets: createSheets({ log }) },
  )

it("variables of conditions are the target's columns, values those of the row (D65)", async () => {
  const outcome = await lookup({ conditions: conditions('is', '{{input.wanted}}') })
  expect(outcome).toEqual({
    kind: 'done',
    outputs: { found: true, count: 3, records: [log[0], log[50], log[100]] },
  })
})

it('no row found is an answer', async () => {
  const outcome = await lookup({ conditions: conditions('is', 'c.com') })
  expect(outcome).toEqual({ kind: 'done', outputs: { found: false, count: 0, records: [] } })
})

it.each([
  [{}, ['0', '1', '2'], 10],
  [{ limit: '3', order: 'newest' }, ['149', '148', '147'], 3],
  [{ limit: '100' }, ['0', '1', '2'], 100],
])('limit and order: %j', async (inputs, first, length) => {
  const outcome = await lookup({ conditions: conditions('is not empty'), ...inputs })
  const records = outcome.kind === 'done' ? (outcome.outputs['records'] as { n: string }[]) : []
  expect(records.slice(0, 3).map(({ n }) => n)).toEqual(first)
  expect(records).toHaveLength(length)
  expect(outcome).toMatchObject({ outputs: { count: 150 } })
})

it('a missing target fails', async () => {
  const outcome = await lookup({ target_sheet_id: 'gone', conditions: conditions('is', 'x') })
  expect(outcome).toEqual({ kind: 'failed', message: 'sheet gone is not there' })
})

it.each(['0', '101', 'x'])('limit %s is refused', async (limit) => {
  await expect(lookup({ limit })).rejects.toThrow('limit must be')
})

it('only the values of its conditions are references to the row', () => {
  const saved = configure(action, { conditions: conditions('is', '{{input.wanted}}') })['conditions'] ?? []
  const tokens = listTokens(action.inputs['conditions']?.references?.(saved))
  expect(tokens.map(({ source }) => source)).toEqual(['{{input.wanted}}'])
})
