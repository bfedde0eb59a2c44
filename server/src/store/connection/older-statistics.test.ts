import { type RawBuilder, sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import type { StatusFilter } from '#contract/rows.ts'
import { targets } from '#test/databases.ts'
import { explain } from '#test/explain.ts'
import { makeApp, type TestApp } from '#test/harness.ts'
import { makeLargeSheet } from '#test/large-sheet.ts'
import type { Call } from '#test/sheets.ts'
import { conditionsOf } from '../sheets/row-filters.ts'
import { allOf, livingRows } from '../sheets/rows.ts'
import type { SheetKey } from '../sheets/sheet-key.ts'

const ROWS = 3000
const FAILED = 10

describe.each(targets())('statistics that are older than an organisation, on $name', (target) => {
  let app: TestApp
  let sheet: SheetKey
  let rowId: string

  async function fill(analysed: boolean): Promise<SheetKey> {
    const org = await app.makeOrg()
    const call: Call = async (method, path, body) => (await org.call(method, path, body)).body
    const { sheetId } = await makeLargeSheet(app.store, call, org.orgId, ROWS, { analysed })
    return { org_id: org.orgId, sheet_id: sheetId }
  }

  beforeAll(async () => {
    app = await makeApp({ target })
    await fill(true)
    sheet = await fill(false)
    const { rows } = await sql<{ row_id: string }>`
      update cells set status = 'failed' where row_id in (
        select row_id from rows where org_id = ${sheet.org_id} and seq > ${ROWS - FAILED}) returning row_id`.execute(
      app.store.org(sheet.org_id),
    )
    rowId = rows[0]?.row_id ?? ''
  })

  const withFailedCell = () => {
    const statusFilters: StatusFilter[] = [{ action: 'any', is: ['failed'] }]
    const conditions = conditionsOf({ filters: [], statusFilters, createdAt: undefined })
    return sql`select count(*) from rows r where ${livingRows(sheet)} and ${allOf(conditions)}`
  }
  const lookups: Record<string, () => RawBuilder<unknown>> = {
    'a row by its key': () => sql`select from rows where org_id = ${sheet.org_id} and row_id = ${rowId}`,
    'a row of a sheet by its id': () =>
      sql`select from rows r where ${livingRows(sheet)} and r.row_id = ${rowId}`,
    'the cells of a row': () => sql`select from cells where org_id = ${sheet.org_id} and row_id = ${rowId}`,
    'rows with a failed cell': withFailedCell,
  }
  it.each(Object.entries(lookups))('%s: looked up, and nothing else is read', async (_, statement) => {
    const db = app.store.org(sheet.org_id)
    const plan = await explain(db, statement().compile(db))
    // The sheet takes thousands, the rows that are asked for a few each.
    expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThan(12 * FAILED)
  })
})
