import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import type { StatusFilter } from '#contract/rows.ts'
import { chosenRows } from '#server/runs/row-choice.ts'
import { ACTION, makeLargeSheet } from '#test/builders/large-sheet.ts'
import type { Call } from '#test/builders/sheets.ts'
import { targets } from '#test/plumbing/databases.ts'
import { makeApp, type TestApp } from '#test/plumbing/harness.ts'
import type { Selection } from '../../database/tables/selection.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { listMatching, matchingRows } from './matching-rows.ts'
import { findMatchingPlace } from './row-search.ts'

/** The number of rows: above what a statement holds of a list. The first `FINE` rows are complete. */
const ROWS = 100_300
const FINE = 200

describe.each(targets().slice(0, 1))('a sheet in which nearly every row failed, on $name', (target) => {
  let app: TestApp
  let sheet: SheetKey

  beforeAll(async () => {
    app = await makeApp({ target })
    const org = await app.makeOrg()
    const call: Call = async (method, path, body) => (await org.call(method, path, body)).body
    const { sheetId } = await makeLargeSheet(app.store, call, org.orgId, ROWS)
    sheet = { org_id: org.orgId, sheet_id: sheetId }
    await sql`update cells set status = 'failed' where org_id = ${org.orgId} and row_id in (
      select row_id from rows where org_id = ${org.orgId} and seq > ${FINE})`.execute(app.store.system)
  })

  const cases: [string, StatusFilter[], number, { first: number; rest?: Partial<Selection> }][] = [
    ['failed', [{ action: 'any', is: ['failed'] }], ROWS - FINE, { first: FINE + 1 }],
    ['not failed', [{ action_instance_id: ACTION, is_not: ['failed', 'error'] }], FINE, { first: 1 }],
    [
      'neither failed nor in flight',
      [
        { action: 'any', is_not: ['failed'] },
        { action: 'any', is_not: ['queued', 'running'] },
      ],
      FINE,
      { first: 1 },
    ],
    [
      'failed, and one of few by a value',
      [{ action: 'any', is: ['failed', 'queued'] }],
      1,
      { first: 5000, rest: { filters: [{ column: 1, operator: 'is equal to', values: ['Company 5000'] }] } },
    ],
  ]

  it.each(cases)(
    'rows that are %s: listed, placed and chosen',
    async (_, statusFilters, total, { first, rest }) => {
      const db = app.store.org(sheet.org_id)
      const selection: Selection = { filters: [], statusFilters, createdAt: undefined, ...rest }
      const page = await listMatching(db, sheet, selection, { offset: 0, limit: 2 })
      expect(page.total).toBe(total)
      const [row] = page.rows
      expect(JSON.parse(row?.data ?? '{}')).toMatchObject({ 1: `Company ${first}` })
      expect(await findMatchingPlace(db, sheet, selection, row?.row_id ?? '')).toBe(0)
      const chosen = await sql<{ count: number }>`
      select count(*) from (${chosenRows(sheet, { kind: 'matching', selection })}) chosen`.execute(db)
      expect(chosen.rows).toEqual([{ count: total }])
    },
  )

  it('is read as a join only where the list is long', async () => {
    const db = app.store.org(sheet.org_id)
    const read = (filter: StatusFilter) =>
      matchingRows(db, sheet, { filters: [], statusFilters: [filter], createdAt: undefined })
    expect(await read({ action: 'any', is: ['failed'] })).toMatchObject({ isJoined: true, isListed: true })
    expect(await read({ action: 'any', is: ['error'] })).toMatchObject({ isJoined: false, isListed: true })
    expect(await read({ action: 'any', is: ['complete'] })).toMatchObject({
      isJoined: false,
      isListed: false,
    })
  })
})
