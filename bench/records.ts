// How fast the record store takes in records, in batches, beside Add Rows of the same companies on the same PostgreSQL.
// npm run bench:records [-- --records 100000]
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { MAX_RECORDS } from '#contract/records.ts'
import { erasePerson } from '#server/records/erase.ts'
import { ingestRecords } from '#server/records/ingest.ts'
import { checkRecord } from '#server/records/record.ts'
import { OPERATOR } from '#server/store/organisation/audit.ts'
import { openInstallation } from '#test/installation.ts'
import { addRows, callOver, makeSheet } from '#test/sheets.ts'
import { COMPANY_COLUMNS, companyRow } from './company-row.ts'
import { bar, note, print } from './report.ts'

const { values } = parseArgs({ options: { records: { type: 'string', default: '100000' } } })
const total = Number(values.records)
const CALLERS = 4
const MERGES = 1000

const installation = await openInstallation()
const { orgId, key } = await installation.makeOrg('Bench')
const server = await installation.startServer()
const send = callOver(server.url, key)
const db = installation.store.org(orgId)
try {
  const sheet = await makeSheet(send, COMPANY_COLUMNS)
  const rows = await rate(total, () => addRows(send, sheet, total, companyRow, CALLERS))
  note('rows are in')
  const first = await rate(total, () => ingestAll('crm'))
  note('records are in')
  const again = await rate(total, () => ingestAll('crm'))
  const second = await rate(total, () => ingestAll('web'))
  const merged = await rate(MERGES, mergeAll)
  print(`${total} companies`, [
    { what: `Add Rows, 1000 a call, ${CALLERS} callers`, 'per second': Math.round(rows) },
    { what: `ingest, ${MAX_RECORDS} a batch, ${CALLERS} callers`, 'per second': Math.round(first) },
    { what: 'the same records again', 'per second': Math.round(again) },
    { what: 'the same entities from another source', 'per second': Math.round(second) },
    { what: `merges, ${MERGES} in one batch`, 'per second': Math.round(merged) },
  ])
  print('One person among them (ms)', [{ what: 'erase', ms: (await timeErase()).toFixed(1) }])
  bar('ingest / Add Rows', first / rows, 0.3)
} finally {
  await installation.close()
}

async function rate(count: number, work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return count / ((performance.now() - started) / 1000)
}

function recordOf(n: number) {
  const { domain = '', ...fields } = companyRow(n)
  return { kind: 'company', identifiers: [{ kind: 'domain', value: domain }], fields }
}

async function ingest(source: string, given: readonly unknown[]) {
  const now = new Date()
  const records = given.map((one) => {
    const checked = checkRecord(one, now)
    if ('faults' in checked) throw new Error(JSON.stringify(checked.faults))
    return checked.record
  })
  return ingestRecords(db, orgId, { source, actor: 'bench', records })
}

/** Checked and taken in batch by batch, as imports do. */
async function ingestAll(source: string): Promise<void> {
  let next = 0
  const take = async () => {
    while (next < total) {
      const from = next
      next = Math.min(total, from + MAX_RECORDS)
      await ingest(
        source,
        Array.from({ length: next - from }, (_, n) => recordOf(from + n)),
      )
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, take))
}

/** Each record says that two companies are one. */
async function mergeAll(): Promise<void> {
  const pairs = Array.from({ length: MERGES }, (_, n) => {
    const [one, other] = [companyRow(2 * n), companyRow(2 * n + 1)]
    const identifiers = [one['domain'], other['domain']].map((value) => ({ kind: 'domain', value }))
    return { kind: 'company', identifiers }
  })
  const { merged } = await ingest('list', pairs)
  if (merged !== MERGES) throw new Error(`${merged} were merged, not ${MERGES}`)
}

async function timeErase(): Promise<number> {
  await ingest('crm', [
    { kind: 'person', identifiers: [{ kind: 'email', value: 'ann@acme.example' }], fields: { name: 'Ann' } },
    {
      kind: 'company',
      identifiers: [{ kind: 'domain', value: companyRow(3)['domain'] }],
      fields: { owner: 'Ann <ann@acme.example>' },
    },
  ])
  await sql`analyze`.execute(installation.store.system)
  const started = performance.now()
  await erasePerson(db, orgId, OPERATOR, 'ann@acme.example')
  return performance.now() - started
}
