import fc from 'fast-check'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseInstant } from '#contract/instant.ts'
import type { FilterOperator } from '#contract/rows.ts'
import { testValue } from '#server/catalog/chain/condition-evaluate.ts'
import type { Operator } from '#server/catalog/chain/condition-operators.ts'
import { readPath } from '#server/catalog/chain/value-path.ts'
import type { Db } from '#server/database/connection/db.ts'
import type { Selection, ValueFilter } from '#server/database/tables/selection.ts'
import { newId } from '#server/lib/ids.ts'
import { createOrganisation } from '#server/organisation/organisations.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { targets } from '#test/plumbing/databases.ts'
import { makeStore } from '#test/plumbing/harness.ts'
import { createWorkflow } from '../workflows.ts'
import { listMatching } from './matching-rows.ts'
import { insertRows } from './rows.ts'

const WORDS = [
  '',
  'a',
  'A',
  'Acme',
  '10',
  '9.50',
  '-3',
  '1e2',
  '2024-02-29',
  '2024-02-30',
  '2024-03-01T10:00:00+02:00',
  '[]',
  '[1,2]',
  '{"k":[{"n":1}]}',
  'ü',
  '%',
]
const word = fc.constantFrom(...WORDS)
const plain = fc.oneof(word, fc.constantFrom(10, 0, -3.5, 100, true, false, null))
const value = fc.oneof(
  { weight: 4, arbitrary: plain },
  fc.array(fc.oneof(plain, fc.record({ n: plain })), { maxLength: 3 }),
  fc.record(
    { k: fc.oneof(plain, fc.array(fc.record({ n: plain }), { maxLength: 2 })) },
    { requiredKeys: [] },
  ),
)

/** The operators of conditions and the words of filters for them. */
const SAME: [FilterOperator, Operator][] = [
  ['is equal to', 'is'],
  ['not equal to', 'is not'],
  ['is empty', 'is empty'],
  ['not empty', 'is not empty'],
  ['contains', 'contains'],
  ['does not contain', 'does not contain'],
  ['starts with', 'starts with'],
  ['does not start with', 'does not start with'],
  ['ends with', 'ends with'],
  ['does not end with', 'does not end with'],
  ['greater than', 'greater than'],
  ['less than', 'less than'],
  ['greater than or equal to', 'greater than or equal to'],
  ['less than or equal to', 'less than or equal to'],
  ['is after', 'is after'],
  ['is before', 'is before'],
]
const numbers = fc.constantFrom('10', '-3', '0', '9.5', '100')
const dates = fc.constantFrom('2024-02-29', '2024-03-01', '2024-03-01T08:00:00Z')
const valuesOf = (operator: Operator) => {
  if (operator.includes('than')) return numbers.map((one) => [one])
  if (operator === 'is after' || operator === 'is before') return dates.map((one) => [one])
  return word.map((one) => [one])
}
const test = fc
  .constantFrom(...SAME)
  .chain(([filter, condition]) => valuesOf(condition).map((values) => ({ filter, condition, values })))

describe.each(targets())('G2: filters over outputs, on $name', (target) => {
  let db: Db
  let sheet: { org_id: string; sheet_id: string }
  let orgId: string

  beforeAll(async () => {
    const { store } = await makeStore(target)
    const made = await createOrganisation(store.system, OPERATOR, {
      name: 'Filters',
      adminEmail: 'outputs@example.com',
      initialCredits: 0,
    })
    orgId = made.orgId
    db = store.org(orgId)
    const author = { orgId, memberId: made.admin.member_id, email: made.admin.email, keyId: null }
    const { workflow_id } = await createWorkflow(db, author, 'Filters')
    sheet = { org_id: orgId, sheet_id: workflow_id }
  })

  /** Fills the sheet with rows whose only cell answers the values. */
  async function fill(values: readonly unknown[]): Promise<string[]> {
    await sql`delete from cells where org_id = ${orgId}`.execute(db)
    await sql`delete from rows where org_id = ${orgId}`.execute(db)
    const ids = await insertRows(
      db,
      sheet,
      values.map(() => '{}'),
    )
    await sql`insert into cells (org_id, sheet_id, row_id, action, status, outputs, run_id, revision, attempts, credits_millis,
        cached, started_at)
      select ${orgId}, ${sheet.sheet_id}, id, 'find_1', 'complete', jsonb_build_object('o', v), ${newId()}, 1, 1, 0, false, now()
      from unnest(${ids}::uuid[], ${values.map((one) => JSON.stringify(one))}::jsonb[]) as t (id, v)`.execute(
      db,
    )
    return ids
  }

  async function idsOf(filter: Extract<ValueFilter, { action: string }>): Promise<string[]> {
    const selection: Selection = { filters: [filter], statusFilters: [], createdAt: undefined }
    const { rows } = await listMatching(db, sheet, selection, { offset: 0, limit: 200 })
    return rows.map(({ row_id }) => row_id)
  }

  it('compare as `run_if` does, lists by element', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(value, { minLength: 1, maxLength: 30 }),
        fc.array(test, { minLength: 1, maxLength: 5 }),
        async (values, tests) => {
          const ids = await fill(values)
          for (const { filter, condition, values: given } of tests) {
            // The text of an object is written with blanks by PostgreSQL.
            const isText = (one: unknown) => typeof one !== 'object' || one === null
            const expected = ids.filter((_, n) => testValue(condition, values[n], given))
            const found = await idsOf({ action: 'find_1', output: 'o', operator: filter, values: given })
            const plainIds = new Set(
              ids.filter(
                (_, n) =>
                  isText(values[n]) ||
                  (['is', 'is empty', 'contains'].includes(condition) && Array.isArray(values[n])),
              ),
            )
            const kept = (list: string[]) => list.filter((id) => plainIds.has(id))
            expect(kept(found), `${filter} ${given.join()}`).toEqual(kept(expected))
          }
        },
      ),
      { numRuns: 60 },
    )
  })

  it('D75: a path reads as tokens do', async () => {
    const paths: (readonly (string | number)[])[] = [['k'], ['k', 'n'], ['k', 0, 'n'], [0], [0, 'n'], ['n']]
    await fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 1, maxLength: 20 }), async (values) => {
        const ids = await fill(values)
        for (const steps of paths) {
          const expected = ids.filter((_, n) => !testValue('is empty', readPath(values[n], steps), []))
          const found = await idsOf({ action: 'find_1', output: 'o', steps, operator: 'not empty' })
          expect(found, steps.join('.')).toEqual(expected)
        }
      }),
      { numRuns: 30 },
    )
  })

  it('dates are read as in conditions', async () => {
    const part = fc.constantFrom(
      '2024-02-29',
      '2023-02-29',
      '0000-01-01',
      '1970-01-01',
      '9999-12-31',
      '2000-02-29',
      '1900-02-29',
      '2024-13-01',
    )
    const time = fc.constantFrom(
      '',
      'T10:30',
      ' 10:30:05.25',
      'T23:59:59Z',
      'T00:00-0530',
      't10:30:00+02:00',
      'T24:00',
      'x',
    )
    const texts = fc.sample(
      fc.tuple(part, time).map((both) => both.join('')),
      60,
    )
    const { rows } = await sql<{
      ms: number | null
    }>`select loam_instant(t) as ms from unnest(${texts}::text[]) t`.execute(db)
    expect(rows.map(({ ms }) => ms)).toEqual(texts.map(parseInstant))
  })

  it('several values are compared exactly, of a list each element', async () => {
    const ids = await fill(['a', 'A', 10, ['a', 'b'], null, [{ n: 'a' }]])
    const any = await idsOf({
      action: 'find_1',
      output: 'o',
      operator: 'contains any of',
      values: ['a', '10.0'],
    })
    expect(any).toEqual([ids[0], ids[2], ids[3]])
    const none = await idsOf({
      action: 'find_1',
      output: 'o',
      operator: 'not contains any of',
      values: ['a', '10.0'],
    })
    expect(none).toEqual([ids[1], ids[4], ids[5]])
  })

  it('a range has both ends, of numbers and of dates', async () => {
    const ids = await fill([5, '7.5', 10, '2024-02-29', '2024-03-01T00:00:00Z', 'x'])
    const between = (values: string[]) =>
      idsOf({ action: 'find_1', output: 'o', operator: 'is between', values })
    expect(await between(['5', '7.50'])).toEqual(ids.slice(0, 2))
    expect(await between(['2024-02-29', '2024-03-01'])).toEqual(ids.slice(3, 5))
  })

  it('outputs of cells that are not complete are empty', async () => {
    const ids = await fill(['a', 'b'])
    await sql`update cells set status = 'failed' where org_id = ${orgId} and row_id = ${ids[1]}`.execute(db)
    expect(await idsOf({ action: 'find_1', output: 'o', operator: 'is empty' })).toEqual([ids[1]])
    expect(await idsOf({ action: 'find_1', output: 'o', operator: 'is equal to', values: ['b'] })).toEqual([])
  })
})
