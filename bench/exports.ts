// Measures P6: an export of 1,000,000 rows x 10 columns through the public API of a real server, from the
// request to the finished file, against COPY TO of the same join on the same PostgreSQL; and the memory that
// the server takes for it.
// npm run bench:exports [-- --rows 1000000 --rounds 3]
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { EXPORT_FORMATS, type ExportFormat } from '#contract/exports.ts'
import { ACTION, type LargeSheet, makeLargeSheet, OUTPUTS } from '#test/builders/large-sheet.ts'
import { type Call, callOver } from '#test/builders/sheets.ts'
import { openInstallation } from '#test/plumbing/installation.ts'
import { residentMb, watchMemory } from '#test/plumbing/resident-memory.ts'
import { bar, median, note, print } from './parts/report.ts'

const { values } = parseArgs({
  options: { rows: { type: 'string', default: '1000000' }, rounds: { type: 'string', default: '3' } },
})
const ROWS = Number(values.rows)
const ROUNDS = Number(values.rounds)
const MEMORY_BAR_MB = 256

const installation = await openInstallation()
try {
  const { orgId, key } = await installation.makeOrg('Bench')
  const server = await installation.startServer()
  const call = callOver(server.url, key)
  note(`${ROWS} rows ...`)
  const sheet = await makeLargeSheet(installation.store, call, orgId, ROWS)
  const pid = server.child.pid ?? 0
  await sleep(2000)
  const base = residentMb(pid)

  const copied: number[] = []
  const exported: Record<ExportFormat, number[]> = { csv: [], jsonl: [], xlsx: [] }
  const peaks: Record<ExportFormat, number> = { csv: 0, jsonl: 0, xlsx: 0 }
  for (let round = 0; round < ROUNDS; round += 1) {
    copied.push(await copy(installation.databaseUrl, sheet))
    for (const format of EXPORT_FORMATS) {
      if (format === 'xlsx' && round > 0) continue
      note(`${format} ...`)
      const memory = watchMemory(() => [pid])
      exported[format].push(await exportSheet(call, sheet.base, format))
      peaks[format] = Math.max(peaks[format], memory.stop())
    }
  }

  const rate = (seconds: number[]) => Math.round(ROWS / median(seconds))
  print(`P6: ${ROWS} rows x 10 columns`, [
    { what: 'COPY TO of the join', 'rows/s': rate(copied), 'most memory (MB)': '' },
    ...EXPORT_FORMATS.map((format) => ({
      what: `export as ${format}`,
      'rows/s': rate(exported[format]),
      'most memory (MB)': peaks[format].toFixed(0),
    })),
  ])
  bar('P6 (CSV, share of COPY TO)', median(copied) / median(exported.csv), 0.3)
  bar(
    'P6 (most memory above the idle server, MB)',
    Math.max(...Object.values(peaks)) - base,
    MEMORY_BAR_MB,
    'at most',
  )
} finally {
  await installation.close()
}

/** Exports a sheet and returns the seconds until the file exists. */
async function exportSheet(call: Call, base: string, format: ExportFormat): Promise<number> {
  const started = performance.now()
  const { export_id } = (await call('POST', `${base}/export`, { format })).data
  for (;;) {
    const { data } = await call('GET', `${base}/export/${export_id}`)
    if (data.status === 'failed' || (data.status === 'completed' && data.row_count !== ROWS)) {
      throw new Error(`the export went wrong: ${JSON.stringify(data)}`)
    }
    if (data.status === 'completed') return (performance.now() - started) / 1000
    await sleep(20)
  }
}

async function copy(url: string, { orgId, sheetId }: LargeSheet): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`select set_config('loam.org', $1, false)`, [orgId])
  const inputs = [1, 2, 3, 4, 5].map((column) => `r.data ->> '${column}'`)
  const outputs = OUTPUTS.map((name) => `c.outputs ->> '${name}'`)
  const text = `copy (select ${[...inputs, ...outputs].join(', ')}
    from rows r left join cells c on c.org_id = r.org_id and c.row_id = r.row_id and c.action = '${ACTION}'
    where r.org_id = '${orgId}' and r.sheet_id = '${sheetId}' order by r.seq) to stdout with (format csv)`
  const started = performance.now()
  const stream = client.query(copyTo(text))
  let bytes = 0
  for await (const chunk of stream) bytes += (chunk as Buffer).length
  const seconds = (performance.now() - started) / 1000
  note(`COPY TO: ${(bytes / 1e6).toFixed(0)} MB in ${seconds.toFixed(1)} s`)
  await client.end()
  return seconds
}
