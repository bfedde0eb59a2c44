// Measures how fast the record store ingests records in batches, compared with Add Rows of the same companies
// on the same PostgreSQL.
// npm run bench:records [-- --records 100000]
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { MAX_RECORDS } from '#contract/records.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { erasePerson } from '#server/records/erase.ts'
import { ingestRecords } from '#server/records/ingest.ts'
import { checkRecord } from '#server/records/record.ts'
import { addRows, callOver, makeSheet } from '#test/builders/sheets.ts'
import { openInstallation } from '#test/plumbing/installation.ts'
import { COMPANY_COLUMNS, companyRow } from './parts/company-row.ts'
import { readCpuSeconds } from './parts/cpu-time.ts'
import { bar, note, print } from './parts/report.ts'

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
  const rows = await measure(total, () => addRows(send, sheet, total, companyRow, CALLERS))
  note('rows are in')
  const first = await measure(total, () => ingestAll('crm'))
  note('records are in')
  const again = await measure(total, () => ingestAll('crm'))
  const second = await measure(total, () => ingestAll('web'))
  const other = await measure(total, () => ingestAll('web', { size: 'unknown' }))
  const merged = await measure(MERGES, mergeAll)
  const line = (what: string, { rate, cpu }: Measured) => ({
    what,
    'per second': Math.round(rate),
    'CPU, µs each': Math.round(cpu),
  })
  print(`${total} companies`, [
    line(`Add Rows, 1000 a call, ${CALLERS} callers`, rows),
    line(`ingest, ${MAX_RECORDS} a batch, ${CALLERS} callers`, first),
    line('the same records again', again),
    line('the same entities from another source', second),
    line('that source says something else', other),
    line(`merges, ${MERGES} in one batch`, merged),
  ])
  print('One person among them (ms)', [{ what: 'erase', ms: (await timeErase()).toFixed(1) }])
  // If other processes use the machine, the rates depend on who gets the processors. The processor time of
  // the work does not.
  note(`by CPU time: ${(rows.cpu / first.cpu).toFixed(2)}`)
  bar('ingest / Add Rows', first.rate / rows.rate, 0.3)
} finally {
  await installation.close()
}

type Measured = { rate: number; cpu: number }

/**
 * Measures the pieces per second and the processor time of each in all processes: this one, the server and
 * PostgreSQL.
 */
async function measure(count: number, work: () => Promise<unknown>): Promise<Measured> {
  const pids = [process.pid, server.child.pid ?? process.pid, installation.postgresPid()]
  const [started, before] = [performance.now(), readCpuSeconds(pids)]
  await work()
  const cpu = ((readCpuSeconds(pids) - before) * 1e6) / count
  return { rate: count / ((performance.now() - started) / 1000), cpu }
}

function recordOf(n: number, more: Record<string, string>) {
  const { domain = '', ...fields } = companyRow(n)
  return { kind: 'company', identifiers: [{ kind: 'domain', value: domain }], fields: { ...fields, ...more } }
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

/** Checks and ingests the records batch by batch, as imports do. */
async function ingestAll(source: string, more: Record<string, string> = {}): Promise<void> {
  let next = 0
  const take = async () => {
    while (next < total) {
      const from = next
      next = Math.min(total, from + MAX_RECORDS)
      await ingest(
        source,
        Array.from({ length: next - from }, (_, n) => recordOf(from + n, more)),
      )
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, take))
}

/** Merges companies: each record says that two companies are one. */
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
