// Measures P5 (Add Rows) and P7 (any page of a large sheet), through the public API of a real server, against
// COPY into a table of the same shape on the same PostgreSQL. Also shows the plans of filters on a large
// sheet.
// npm run bench:rows [-- --rows 1000000]
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { CreatedAtFilter, FilterOperator } from '#contract/rows.ts'
import type { Selection } from '#server/database/tables/selection.ts'
import type { SheetKey } from '#server/database/tables/sheet-key.ts'
import { newId } from '#server/lib/ids.ts'
import { matchingRows } from '#server/sheets/store/matching-rows.ts'
import { addRows, callOver, makeSheet } from '#test/builders/sheets.ts'
import { explainScans } from '#test/plumbing/explain.ts'
import { openInstallation } from '#test/plumbing/installation.ts'
import { COMPANY_COLUMNS, companyRow } from './parts/company-row.ts'
import { bar, median, print } from './parts/report.ts'

const { values } = parseArgs({ options: { rows: { type: 'string', default: '1000000' } } })
const total = Number(values.rows)
const CALL = 1000
const CLIENTS = 4

const installation = await openInstallation()
const { key } = await installation.makeOrg('Bench')
const server = await installation.startServer()
const send = callOver(server.url, key)
const call = (path: string, body: unknown = {}) => send('POST', path, body)
const client = new pg.Client({ connectionString: installation.databaseUrl })
try {
  await client.connect()
  await client.query(`select set_config('loam.org', '*', false)`)
  const sheet = await makeSheet(send, COMPANY_COLUMNS)
  const added = await timeAddRows(sheet)
  const copied = await copyRows()
  print('P5: rows written', [
    { what: `Add Rows, ${CALL} a call, ${CLIENTS} callers`, 'rows/s': Math.round(added) },
    { what: 'COPY into the same table and indexes', 'rows/s': Math.round(copied) },
  ])
  bar('P5 (Add Rows)', added / copied, 0.3)
  await pages(sheet)
  await plans(sheet)
} finally {
  await client.end()
  await installation.close()
}

async function timeAddRows(base: string): Promise<number> {
  const started = performance.now()
  await addRows(send, base, total, companyRow, CLIENTS)
  return total / ((performance.now() - started) / 1000)
}

async function copyRows(): Promise<number> {
  await client.query('create table copied (like rows including all)')
  const [org, sheet] = [newId(), newId()]
  function* lines(): Generator<string> {
    for (let n = 0; n < total; n += CALL) {
      let chunk = ''
      for (let i = n; i < n + CALL; i++) {
        const data = JSON.stringify(
          Object.fromEntries(Object.values(companyRow(i)).map((value, c) => [c + 1, value])),
        )
        chunk += `${org}\t${sheet}\t${newId()}\t${i}\t${data}\n`
      }
      yield chunk
    }
  }
  const started = performance.now()
  await pipeline(Readable.from(lines()), client.query(copyFrom('copy copied from stdin')))
  const rate = total / ((performance.now() - started) / 1000)
  await client.query('drop table copied')
  return rate
}

async function timePages(base: string, pageNo: () => number): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < 40; n++) {
    const body = { page_no: pageNo(), page_size: 200 }
    const started = performance.now()
    await call(`${base}/rows/list`, body)
    times.push(performance.now() - started)
  }
  return median(times)
}

async function pages(base: string): Promise<void> {
  const last = total / 200
  await timePages(base, () => 1)
  const first = await timePages(base, () => 1)
  const lastPage = await timePages(base, () => last)
  const random = await timePages(base, () => 1 + Math.floor(Math.random() * last))
  for (let n = 0; n < 50; n++) {
    const page = await call(`${base}/rows/list`, {
      page_no: 1 + Math.floor(Math.random() * (last - 60)),
      page_size: 200,
    })
    await call(`${base}/rows/delete`, {
      row_ids: (page.data.rows as { row_id: string }[]).map((row) => row.row_id),
    })
  }
  const holed = await timePages(base, () => last - 60)
  print(`P7: one page of 200 rows of ${total} (ms, median of 40)`, [
    { page: 'first', ms: first.toFixed(2) },
    { page: 'last', ms: lastPage.toFixed(2) },
    { page: 'any', ms: random.toFixed(2) },
    { page: 'near the end, after 10,000 deletions', ms: holed.toFixed(2) },
  ])
  bar('P7 (last page / first page)', lastPage / first, 3, 'at most')
}

/** Runs each filter through the API and explains the conditions that it is compiled to. */
async function plans(base: string): Promise<void> {
  await client.query('analyze rows')
  const column = (name: string) => COMPANY_COLUMNS.indexOf(name) + 1
  const filter = (name: string, operator: FilterOperator, value: string) => ({
    body: { filters: [{ variable: `{{input.${name}}}`, operator, values: [value] }] },
    selection: {
      filters: [{ column: column(name), operator, values: [value] }],
      statusFilters: [],
      createdAt: undefined,
    },
  })
  const never: CreatedAtFilter = { operator: 'greater than', values: ['2100-01-01'] }
  const cases: [string, { body: object; selection: Selection }][] = [
    ['is equal to, one match', filter('domain', 'is equal to', `company-${total - 5}.example.com`)],
    ['contains, many matches', filter('note', 'contains', 'LINE OF')],
    ['greater than', filter('employees', 'greater than', '9990')],
    [
      'created_at, nothing that new',
      { body: { created_at: never }, selection: { filters: [], statusFilters: [], createdAt: never } },
    ],
  ]
  const sheetId = base.slice(-36)
  const found = await client.query<SheetKey>('select org_id, sheet_id from sheets where sheet_id = $1', [
    sheetId,
  ])
  const [sheetKey] = found.rows
  if (sheetKey === undefined) throw new Error('the sheet is gone')
  const table = []
  for (const [what, { body, selection }] of cases) {
    const times: number[] = []
    let matches: unknown
    for (let n = 0; n < 3; n++) {
      const started = performance.now()
      matches = (await call(`${base}/rows/list`, body)).data.total_count
      times.push(performance.now() - started)
    }
    const { system } = installation.store
    const { rows } = await matchingRows(system, sheetKey, selection)
    const scans = await explainScans(system, sql`select count(*) ${rows}`.compile(system))
    table.push({
      filter: what,
      matches,
      ms: median(times).toFixed(0),
      plan: scans.find((scan) => / on rows/.test(scan)) ?? '',
    })
  }
  print(`Filters over ${total} rows: page and exact count`, table)
}
