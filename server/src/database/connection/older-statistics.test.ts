import { type RawBuilder, sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import type { StatusFilter } from '#contract/rows.ts'
import { newId } from '#server/lib/ids.ts'
import { keyedPlans } from '#server/runs/launch-pieces.ts'
import { chooseOnly, chosenRows, type RowChoice } from '#server/runs/row-choice.ts'
import { ACTION, makeLargeSheet } from '#test/builders/large-sheet.ts'
import type { Call } from '#test/builders/sheets.ts'
import { targets } from '#test/plumbing/databases.ts'
import { explain, explainScans, type Plan } from '#test/plumbing/explain.ts'
import { makeApp, type TestApp } from '#test/plumbing/harness.ts'
import { scopeOfExport, textRows } from '../../files/store/export-lines.ts'
import { readCellHistories } from '../../runs/store/foreseen-cells.ts'
import { extendKeys, findEarlierRows, registerKeys } from '../../sheets/store/dedupe-keys.ts'
import { matchingRows, rowsMeeting } from '../../sheets/store/matching-rows.ts'
import { packedCells } from '../../sheets/store/packed-cells.ts'
import { editRows, keepDeletedRows } from '../../sheets/store/row-edits.ts'
import { conditionsOf } from '../../sheets/store/row-filters.ts'
import { findNextFailed } from '../../sheets/store/row-search.ts'
import { allOf, deleteRows, livingRows } from '../../sheets/store/rows.ts'
import { joinedStatus, selectStatusList } from '../../sheets/store/status-filters.ts'
import type { Selection } from '../tables/selection.ts'
import type { SheetKey } from '../tables/sheet-key.ts'
import { type Db, inTransaction } from './db.ts'
import { inlineParameters, type Snapshot } from './snapshot.ts'

const ROWS = 3000
const FAILED = 10

/** The most blocks for each row with its cell: a few pages each. All cells of each row would be several times as many. */
const EACH = 15 * ROWS

/** The most blocks for each failed row: a few pages each. The whole sheet takes thousands. */
const FEW = 12 * FAILED

const NOBODY: Selection = {
  filters: [{ column: 1, operator: 'is equal to', values: ['nobody'] }],
  statusFilters: [],
  createdAt: undefined,
}

const renamed = (rowId: string) => ({ rowId, data: '{"1":"x"}' })

const countBlocks = (plan: Plan) => plan['Shared Hit Blocks'] + plan['Shared Read Blocks']

function rowsWith(sheet: SheetKey, filter: StatusFilter): RawBuilder<unknown> {
  const conditions = conditionsOf(sheet, { filters: [], statusFilters: [filter], createdAt: undefined })
  return sql`select count(*) from rows r where ${livingRows(sheet)} and ${allOf(conditions)}`
}

async function fillSheet(app: TestApp, analysed: boolean): Promise<SheetKey> {
  const org = await app.makeOrg()
  const call: Call = async (method, path, body) => (await org.call(method, path, body)).body
  const { sheetId } = await makeLargeSheet(app.store, call, org.orgId, ROWS, { analysed })
  return { org_id: org.orgId, sheet_id: sheetId }
}

async function failLast(app: TestApp, { org_id }: SheetKey): Promise<string[]> {
  const { rows } = await sql<{ row_id: string }>`
    update cells set status = 'failed' where row_id in (
      select row_id from rows where org_id = ${org_id} and seq > ${ROWS - FAILED}) returning row_id`.execute(
    app.store.org(org_id),
  )
  return rows.map(({ row_id }) => row_id)
}

describe.each(targets())('statistics that are older than an organisation, on $name', (target) => {
  let app: TestApp
  let sheet: SheetKey
  let rowId: string

  beforeAll(async () => {
    app = await makeApp({ target })
    await fillSheet(app, true)
    sheet = await fillSheet(app, false)
    rowId = (await failLast(app, sheet))[0] ?? ''
  })

  const lookups: Record<string, () => RawBuilder<unknown>> = {
    'a row by its key': () => sql`select from rows where org_id = ${sheet.org_id} and row_id = ${rowId}`,
    'a row of a sheet by its id': () =>
      sql`select from rows r where ${livingRows(sheet)} and r.row_id = ${rowId}`,
    'the cells of a row': () => sql`select from cells where org_id = ${sheet.org_id} and row_id = ${rowId}`,
    'rows with a failed cell': () =>
      sql`select count(*) ${rowsMeeting(sheet, { filters: [], statusFilters: [{ action: 'any', is: ['failed'] }], createdAt: undefined })}`,
  }
  it.each(Object.entries(lookups))('%s: looked up, and nothing else is read', async (_, statement) => {
    const db = app.store.org(sheet.org_id)
    const plan = await explain(db, statement().compile(db))
    expect(countBlocks(plan)).toBeLessThan(FEW)
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
    expect(countBlocks(await explain(db, copied))).toBeLessThan(EACH)
  })
})

describe.each(targets())('before there are any statistics, on $name', (target) => {
  let app: TestApp
  let sheet: SheetKey
  let rowIds: string[]

  beforeAll(async () => {
    app = await makeApp({ target })
    sheet = await fillSheet(app, false)
    rowIds = await failLast(app, sheet)
  })

  const choose = (filter: StatusFilter): RowChoice => ({
    kind: 'matching',
    selection: { filters: [], statusFilters: [filter], createdAt: undefined },
  })
  const statuses: [string, StatusFilter, number][] = [
    ['failed', { action: 'any', is: ['failed'] }, FEW],
    ['failed at an action', { action_instance_id: ACTION, is: ['failed', 'error'] }, FEW],
    ['failed, queued or running', { action: 'any', is: ['failed', 'queued', 'running'] }, FEW],
    ['queued at an action', { action_instance_id: ACTION, is: ['queued'] }, FEW],
    ['not failed', { action: 'any', is_not: ['failed'] }, EACH],
    ['not in flight', { action_instance_id: ACTION, is_not: ['queued', 'running'] }, EACH],
    ['complete', { action_instance_id: ACTION, is: ['complete'] }, EACH],
    ['complete or queued', { action: 'any', is: ['complete', 'queued'] }, EACH],
  ]

  it.each(statuses)(
    'rows that are %s, as a filter beside others: each is looked at once',
    async (_, filter) => {
      const db = app.store.org(sheet.org_id)
      expect(countBlocks(await explain(db, rowsWith(sheet, filter).compile(db)))).toBeLessThan(EACH)
    },
  )

  it.each(statuses)(
    'rows that are %s, listed: only they are looked at, or each once',
    async (_, filter, most) => {
      const db = app.store.org(sheet.org_id)
      const { rows } = await matchingRows(db, sheet, {
        filters: [],
        statusFilters: [filter],
        createdAt: undefined,
      })
      expect(countBlocks(await explain(db, sql`select count(*) ${rows}`.compile(db)))).toBeLessThan(most)
    },
  )

  it.each<[string, RowChoice, number]>([
    ...statuses.map(([name, filter, most]): [string, RowChoice, number] => [name, choose(filter), most]),
    ['unfinished', chooseOnly('unfinished', [ACTION]), EACH],
    ['failed, as the only ones', chooseOnly('failed', [ACTION]), FEW],
  ])('rows that are %s, launched: only they are looked at, or each once', async (_, choice, most) => {
    const blocks = await inTransaction(app.store.org(sheet.org_id), async (trx) => {
      await sql`select ${keyedPlans}`.execute(trx)
      return countBlocks(await explain(trx, chosenRows(sheet, choice).compile(trx)))
    })
    expect(blocks).toBeLessThan(most)
  })

  it('a long list is joined with the sheet, and each of both is read once', async () => {
    const db = app.store.org(sheet.org_id)
    const filter: StatusFilter = { action: 'any', is: ['failed'] }
    const list = selectStatusList(sheet, filter) ?? expect.fail('failed rows can be listed')
    const joined = sql`select count(*) from rows r where ${livingRows(sheet)} and ${joinedStatus(list, true)}`
    const blocks = await inTransaction(db, async (trx) => {
      await sql`select set_config('enable_nestloop', 'off', true)`.execute(trx)
      return countBlocks(await explain(trx, joined.compile(trx)))
    })
    expect(blocks).toBeLessThan(EACH)
  })

  /** Counts the tuples that an act in a transaction of its own reads from these tables. */
  const tuplesRead = (tables: string[], act: (trx: Db) => Promise<unknown>) =>
    inTransaction(app.store.org(sheet.org_id), async (trx) => {
      const count = async () => {
        const { rows } = await sql<{ read: number }>`select sum(seq_tup_read + idx_tup_fetch)::int as read
          from pg_stat_xact_user_tables where relname = any(${tables}::text[])`.execute(trx)
        return rows[0]?.read ?? Number.NaN
      }
      const before = await count()
      await act(trx)
      return (await count()) - before
    })

  it.each<[string, (trx: Db) => Promise<unknown>]>([
    ['edited', (trx) => editRows(trx, sheet, rowIds.map(renamed))],
    ['kept', (trx) => keepDeletedRows(trx, sheet, rowIds)],
    [
      'looked for by their failures',
      (trx) => findNextFailed(trx, sheet, NOBODY, { actions: [ACTION], after: undefined }),
    ],
    ['deleted', (trx) => deleteRows(trx, sheet, rowIds)],
  ])('rows that are %s: few others are read', async (_, act) => {
    expect(await tuplesRead(['rows', 'cells'], act)).toBeLessThan(FEW)
  })

  it('rows are compared only with rows of the same values (D72)', async () => {
    const db = app.store.org(sheet.org_id)
    const compared = { columns: [1], ignoreCase: false }
    expect(await extendKeys(db, sheet, compared)).toBe(true)
    const { rows } = await sql<{ row_id: string }>`
      select row_id from rows where org_id = ${sheet.org_id} and seq % ${ROWS / 5} = 7`.execute(db)
    const some = rows.map(({ row_id }) => row_id)
    expect(some).toHaveLength(5)
    const read = await tuplesRead(['rows', 'dedupe_keys'], async (trx) => {
      expect(await findEarlierRows(trx, sheet, some, compared)).toEqual(some.map(() => false))
    })
    expect(read).toBeLessThan(FEW)
  })

  it('rows whose action names their values: few others are read, or each once (D72)', async () => {
    const db = app.store.org(sheet.org_id)
    const { rows } = await sql<{ row_id: string }>`
      select row_id from rows where org_id = ${sheet.org_id} and sheet_id = ${sheet.sheet_id}`.execute(db)
    const run = { ...sheet, run_id: newId() }
    const nameRows = (trx: Db, rowIds: string[], value: string) =>
      registerKeys(
        trx,
        run,
        rowIds.map((rowId) => ({ rowId, key: Buffer.from(value) })),
        { action: ACTION },
      )
    const all = rows.map(({ row_id }) => row_id)
    await nameRows(db, all, 'all')
    const read = await tuplesRead(['rows', 'dedupe_keys'], async (trx) => {
      await sql`select ${keyedPlans}`.execute(trx)
      const seqs = await nameRows(trx, all.slice(-5), 'some')
      expect(seqs.filter((seq) => seq !== null)).toHaveLength(5)
    })
    expect(read).toBeLessThan(ROWS + FEW)
  })

  it('an estimate reads the cells of some rows only', async () => {
    const actions = [{ action: ACTION, epoch: 1 }]
    const read = await tuplesRead(['cells'], (trx) => readCellHistories(trx, sheet, actions))
    expect(read).toBeLessThanOrEqual(1000)
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
      // With the settings of connections for reads by key.
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
