import { type RawBuilder, sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import type { StatusFilter } from '#contract/rows.ts'
import { newId } from '#server/lib/ids.ts'
import { keyedPlans } from '#server/runs/launch-pieces.ts'
import { targets } from '#test/databases.ts'
import { explain, explainScans, type Plan } from '#test/explain.ts'
import { makeApp, type TestApp } from '#test/harness.ts'
import { ACTION, makeLargeSheet } from '#test/large-sheet.ts'
import type { Call } from '#test/sheets.ts'
import { scopeOfExport, textRows } from '../files/export-lines.ts'
import { packedCells } from '../sheets/cells.ts'
import { conditionsOf } from '../sheets/row-filters.ts'
import { allOf, livingRows } from '../sheets/rows.ts'
import type { SheetKey } from '../sheets/sheet-key.ts'
import { inTransaction } from './db.ts'
import { inlineParameters, type Snapshot } from './snapshot.ts'

const ROWS = 3000
const FAILED = 10

/** Each row with its cell, a few pages each; all cells for each row are several times as many. */
const EACH = 15 * ROWS

const blocksOf = (plan: Plan) => plan['Shared Hit Blocks'] + plan['Shared Read Blocks']

function rowsWith(sheet: SheetKey, filter: StatusFilter): RawBuilder<unknown> {
  const conditions = conditionsOf({ filters: [], statusFilters: [filter], createdAt: undefined })
  return sql`select count(*) from rows r where ${livingRows(sheet)} and ${allOf(conditions)}`
}

async function fillSheet(app: TestApp, analysed: boolean): Promise<SheetKey> {
  const org = await app.makeOrg()
  const call: Call = async (method, path, body) => (await org.call(method, path, body)).body
  const { sheetId } = await makeLargeSheet(app.store, call, org.orgId, ROWS, { analysed })
  return { org_id: org.orgId, sheet_id: sheetId }
}

describe.each(targets())('statistics that are older than an organisation, on $name', (target) => {
  let app: TestApp
  let sheet: SheetKey
  let rowId: string

  beforeAll(async () => {
    app = await makeApp({ target })
    await fillSheet(app, true)
    sheet = await fillSheet(app, false)
    const { rows } = await sql<{ row_id: string }>`
      update cells set status = 'failed' where row_id in (
        select row_id from rows where org_id = ${sheet.org_id} and seq > ${ROWS - FAILED}) returning row_id`.execute(
      app.store.org(sheet.org_id),
    )
    rowId = rows[0]?.row_id ?? ''
  })

  const lookups: Record<string, () => RawBuilder<unknown>> = {
    'a row by its key': () => sql`select from rows where org_id = ${sheet.org_id} and row_id = ${rowId}`,
    'a row of a sheet by its id': () =>
      sql`select from rows r where ${livingRows(sheet)} and r.row_id = ${rowId}`,
    'the cells of a row': () => sql`select from cells where org_id = ${sheet.org_id} and row_id = ${rowId}`,
    'rows with a failed cell': () => rowsWith(sheet, { action: 'any', is: ['failed'] }),
  }
  it.each(Object.entries(lookups))('%s: looked up, and nothing else is read', async (_, statement) => {
    const db = app.store.org(sheet.org_id)
    const plan = await explain(db, statement().compile(db))
    // The sheet takes thousands, the rows that are asked for a few each.
    expect(blocksOf(plan)).toBeLessThan(12 * FAILED)
  })

  it('an export reads each row and each cell once', async () => {
    const db = app.store.org(sheet.org_id)
    const snapshot: Pick<Snapshot, 'query'> = {
      query: async (statement) => (await statement.execute(db)).rows,
    }
    const record = { ...sheet, below_seq: ROWS + 1, selection: { filters: [], statusFilters: [] } }
    const { scope } =
      (await scopeOfExport(snapshot, record, [ACTION], [])) ?? expect.fail('the sheet is there')
    const lines = textRows(scope, [{ input: 1 }, { action: 0, output: 'first' }])
    const copied = { sql: inlineParameters(lines.compile(db)), parameters: [] }
    expect(blocksOf(await explain(db, copied))).toBeLessThan(EACH)
  })
})

describe.each(targets())('before there are any statistics, on $name', (target) => {
  it('rows whose cell is complete: each is looked at once', async () => {
    const app = await makeApp({ target })
    const sheet = await fillSheet(app, false)
    const db = app.store.org(sheet.org_id)
    const filter: StatusFilter = { action_instance_id: ACTION, is: ['complete'] }
    expect(blocksOf(await explain(db, rowsWith(sheet, filter).compile(db)))).toBeLessThan(EACH)
  })
})

describe.each(targets())('flights, which come and go by the thousand, on $name', (target) => {
  let app: TestApp
  const org = newId()
  const run = newId()

  beforeAll(async () => {
    app = await makeApp({ target })
  })

  const fly = async () => {
    await sql`insert into flights (org_id, sheet_id, row_id, run_id, status)
      select ${org}, ${newId()}, gen_random_uuid(), ${run}, 'queued' from generate_series(1, ${ROWS})`.execute(
      app.store.system,
    )
  }
  const land = async () => void (await sql`delete from flights`.execute(app.store.system))
  const count = async () => void (await sql`vacuum analyze flights`.execute(app.store.system))

  it.each<[string, () => Promise<void>]>([
    ['that were never counted', async () => {}],
    ['many, counted as none', () => fly()],
    ['many, counted', count],
    ['none, counted as many', land],
    ['none, counted after many', count],
    ['many again, counted as none', fly],
  ])(
    '%s: that of a row is found by its row, the next of a run in the order of rows, and those of a run by the run',
    async (_, prepare) => {
      await prepare()
      const db = app.store.org(org)
      // As connections for reads by key are set.
      const scansOf = (statement: RawBuilder<unknown>) =>
        inTransaction(db, async (trx) => {
          await sql`select ${keyedPlans}`.execute(trx)
          const scans = await explainScans(trx, statement.compile(trx))
          return scans.filter((scan) => scan.includes('flights_'))
        })
      const ofRow = sql`select ${packedCells(org, sql`wanted.row_id`)} from unnest(${[newId()]}::uuid[]) as wanted (row_id)`
      const ofRun = sql`select from flights f where f.org_id = ${org} and f.run_id = ${run} limit 1`
      const inOrder = sql`select row_id from flights where org_id = ${org} and run_id is not distinct from ${run} and row_id >= ${newId()}
      order by row_id limit 2500`
      expect(await scansOf(inOrder)).toEqual([expect.stringContaining('Index Scan using flights_pkey')])
      expect(await scansOf(ofRow)).toEqual([expect.stringContaining('flights_pkey')])
      expect(await scansOf(ofRun)).toContainEqual(expect.stringContaining('flights_by_run'))
    },
  )
})
