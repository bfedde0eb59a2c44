import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareDecimals, parseDecimal } from '#contract/decimal.ts'
import type { FilterOperator } from '#contract/rows.ts'
import { targets } from '#test/plumbing/databases.ts'
import { makeStore } from '#test/plumbing/harness.ts'
import { createOrganisation } from '../../organisation/organisations.ts'
import { OPERATOR } from '../../organisation/store/audit.ts'
import { createWorkflow } from '../workflows.ts'
import { listMatching } from './matching-rows.ts'
import { insertRows } from './rows.ts'

/** The meaning of the operators that compare texts of inputs, written with plain functions on plain values. */
const MODEL: Partial<Record<FilterOperator, (text: string | null, values: string[]) => boolean>> = {
  'is equal to': (text, [value]) => text === value,
  'not equal to': (text, [value]) => text !== value,
  'is empty': (text) => text === null || text === '',
  'not empty': (text) => text !== null && text !== '',
  contains: (text, [value = '']) => text !== null && lower(text).includes(lower(value)),
  'does not contain': (text, [value = '']) => text === null || !lower(text).includes(lower(value)),
  'contains any of': (text, values) => text !== null && values.includes(text),
  'not contains any of': (text, values) => text === null || !values.includes(text),
  'greater than': (text, [value = '']) => compare(text, value) > 0,
  'less than': (text, [value = '']) => compare(text, value) < 0,
}

// Simple case mapping, as in PostgreSQL: a character whose lower case has several characters is not changed.
const lower = (text: string) => text.toLowerCase()

function compare(text: string | null, value: string): number {
  const [a, b] = [text === null ? null : parseDecimal(text), parseDecimal(value)]
  return a === null || b === null ? Number.NaN : compareDecimals(a, b)
}

const WORDS = [
  '',
  'a',
  'A',
  'acme',
  'Acme GmbH',
  '%',
  '_',
  '\\',
  "'",
  '"',
  'ü',
  'ÜBER',
  '10',
  '9',
  '-3.5',
  '.5',
  '5.',
  '1e3',
  '1000',
  '0x10',
  ' 10',
  '日本',
  '{{input.x}}',
  'null',
  'true',
]
const cell = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...WORDS) },
  {
    weight: 2,
    arbitrary: fc.string({ unit: 'binary-ascii', maxLength: 6 }).map((text) => text.replaceAll('\0', '0')),
  },
  { weight: 1, arbitrary: fc.constant(null) },
)
const number = fc.constantFrom('10', '9', '-3.5', '.5', '1e3', '1000', '0', '99999999999999999999.5')
const filter = fc.oneof(
  fc.record({
    operator: fc.constantFrom<FilterOperator>('is equal to', 'not equal to', 'contains', 'does not contain'),
    values: fc.constantFrom(...WORDS).map((word) => [word]),
  }),
  fc.record({
    operator: fc.constantFrom<FilterOperator>('is empty', 'not empty'),
    values: fc.constant<string[]>([]),
  }),
  fc.record({
    operator: fc.constantFrom<FilterOperator>('contains any of', 'not contains any of'),
    values: fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    operator: fc.constantFrom<FilterOperator>('greater than', 'less than'),
    values: number.map((text): string[] => [text]),
  }),
)

describe.each(targets())('on $name', (target) => {
  it('D40: random rows and random filters give the same ids as a plain model', async () => {
    const { store } = await makeStore(target)
    const { orgId, admin } = await createOrganisation(store.system, OPERATOR, {
      name: 'Filters',
      adminEmail: 'filters@example.com',
      initialCredits: 0,
    })
    const db = store.org(orgId)
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 40 }),
        fc.array(fc.tuple(fc.constantFrom(1, 2), filter), { minLength: 1, maxLength: 3 }),
        fc.nat(10),
        async (rows, filters, offset) => {
          const author = { orgId, memberId: admin.member_id, email: admin.email, keyId: null }
          const { workflow_id } = await createWorkflow(db, author, 'Filters')
          const sheet = { org_id: orgId, sheet_id: workflow_id }
          const ids = await insertRows(
            db,
            sheet,
            rows.map(([one, two]) => JSON.stringify({ 1: one, 2: two })),
          )
          const expected = ids.filter((_, n) =>
            filters.every(([column, { operator, values }]) =>
              MODEL[operator]?.(rows[n]?.[column - 1] ?? null, values),
            ),
          )
          const selection = {
            filters: filters.map(([column, one]) => ({ column, ...one })),
            statusFilters: [],
            createdAt: undefined,
          }
          const page = await listMatching(db, sheet, selection, { offset, limit: 200 })
          expect(page.rows.map((row) => row.row_id)).toEqual(expected.slice(offset))
          expect(page.total).toBe(expected.length)
        },
      ),
      { numRuns: 150 },
    )
  })
})
