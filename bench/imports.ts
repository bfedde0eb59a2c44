// Measures P5 (import): a CSV file of 1,000,000 rows through the public API of a real server, from the
// request to the last row, against COPY into a table of the same shape on the same PostgreSQL; the memory
// that the server takes for it; and the same rows as XLSX.
// npm run bench:imports [-- --rows 1000000 --rounds 3 --no-xlsx]
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { newId } from '#server/lib/ids.ts'
import { makeCsv, makeXlsx, valuesOf } from '#test/builders/large-file.ts'
import { callOver } from '#test/builders/sheets.ts'
import { awaitImport, putFile, startImport } from '#test/guards/imports.ts'
import { openInstallation } from '#test/plumbing/installation.ts'
import { residentMb, watchMemory } from '#test/plumbing/resident-memory.ts'
import { bar, median, note, print } from './parts/report.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
    xlsx: { type: 'boolean', default: true },
  },
  allowNegative: true,
})
const ROWS = Number(values.rows)
const ROUNDS = Number(values.rounds)
const MEMORY_BAR_MB = 256

const installation = await openInstallation()
const client = new pg.Client({ connectionString: installation.databaseUrl })
try {
  const { orgId, key } = await installation.makeOrg('Bench')
  const server = await installation.startServer()
  const pid = server.child.pid ?? 0
  const call = callOver(server.url, key)
  await client.connect()
  await client.query(`select set_config('loam.org', '*', false)`)
  note(`a CSV file of ${ROWS} rows ...`)
  const csv = await putFile(installation, orgId, 'rows.csv', makeCsv(ROWS))
  await sleep(2000)
  const base = residentMb(pid)

  /** Measures the rows per second, from the request to the status `completed`. */
  async function measure(file_ref: string): Promise<{ rate: number; peak: number }> {
    const memory = watchMemory(() => [pid])
    const started = performance.now()
    const sheet = await startImport(call, file_ref)
    const end = await awaitImport(call, sheet)
    const seconds = (performance.now() - started) / 1000
    if (end.rows_imported !== ROWS) throw new Error(`the import went wrong: ${JSON.stringify(end)}`)
    note(`imported in ${seconds.toFixed(1)} s`)
    const peak = memory.stop()
    await call('POST', `${sheet}/rows/delete-all`)
    await until(async () => (await client.query('select from purges')).rowCount === 0)
    return { rate: ROWS / seconds, peak }
  }

  const copied: number[] = []
  const imported: { rate: number; peak: number }[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    copied.push(await copyRows())
    imported.push(await measure(csv))
  }
  const xlsx = values.xlsx
    ? await measure(await putFile(installation, orgId, 'rows.xlsx', makeXlsx(ROWS)))
    : null

  const rate = median(imported.map((one) => one.rate))
  const peak = Math.max(...imported.map((one) => one.peak))
  const line = (what: string, perSecond: number, mb?: number) => ({
    what,
    'rows/s': Math.round(perSecond),
    'most memory (MB)': mb === undefined ? '' : Math.round(mb),
  })
  print(`P5: ${ROWS} rows x 5 columns; the idle server has ${Math.round(base)} MB`, [
    line('COPY into the same table and indexes', median(copied)),
    line('import of a CSV file', rate, peak),
    ...(xlsx === null ? [] : [line('import of an XLSX file', xlsx.rate, xlsx.peak)]),
  ])
  bar('P5 (CSV import, share of COPY)', rate / median(copied), 0.3)
  bar(
    'R8 (most memory above the idle server, MB)',
    Math.max(peak, xlsx?.peak ?? 0) - base,
    MEMORY_BAR_MB,
    'at most',
  )
} finally {
  await client.end()
  await installation.close()
}

async function copyRows(): Promise<number> {
  await client.query('create table copied (like rows including all)')
  const [org, sheet] = [newId(), newId()]
  function* lines(): Generator<string> {
    for (let from = 0; from < ROWS; from += 1000) {
      let chunk = ''
      for (let n = from; n < Math.min(ROWS, from + 1000); n++) {
        const data = JSON.stringify(Object.fromEntries(valuesOf(n).map((value, c) => [c + 1, value])))
        chunk += `${org}\t${sheet}\t${newId()}\t${n}\t${data}\n`
      }
      yield chunk
    }
  }
  const started = performance.now()
  await pipeline(Readable.from(lines()), client.query(copyFrom('copy copied from stdin')))
  const rate = ROWS / ((performance.now() - started) / 1000)
  await client.query('drop table copied')
  note(`COPY: ${Math.round(rate)} rows/s`)
  return rate
}

async function until(done: () => Promise<boolean>): Promise<void> {
  while (!(await done())) await sleep(100)
}
