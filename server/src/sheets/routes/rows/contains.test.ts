import { expect, it } from 'vitest'
import { testValue } from '#server/catalog/chain/condition-evaluate.ts'
import { rowsOf } from '#test/builders/rows.ts'
import { makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp()
const { addRows, list, makeSheet } = rowsOf(await app.makeOrg())

const VALUES = [
  'Head of Sales',
  '["Sales"]',
  ['Sales', 'Marketing'],
  ['Head of Sales'],
  ['ÉCOLE', null],
  [1, 2.5, true],
  [{ title: 'Sales', age: 36 }, 'x'],
  [['a']],
  [],
  '',
  null,
  42,
]
const WORDS = ['sales', 'SALES', 'Marketing', 'école', '2.50', '36', 'TRUE', 'title', 'ale', '["A"]', '4']

it('contains means the same in filters and conditions, also on arrays (D96)', async () => {
  const base = await makeSheet()
  const ids = await addRows(
    base,
    VALUES.map((value) => ({ Company: value })),
  )
  for (const word of WORDS) {
    for (const operator of ['contains', 'does not contain'] as const) {
      const filters = [{ variable: '{{input.Company}}', operator, values: [word] }]
      const found: { row_id: string }[] = (await list(base, { filters })).rows
      const places = found.map(({ row_id }) => ids.indexOf(row_id))
      const expected = VALUES.flatMap((value, n) => (testValue(operator, value, [word]) ? [n] : []))
      expect([word, operator, places]).toEqual([word, operator, expected])
    }
  }
})
