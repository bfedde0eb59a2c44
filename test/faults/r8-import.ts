// R8 (import): a CSV and an XLSX file of 1,000,000 rows are imported while the worker is killed with -9 again
// and again. There must be exactly 1,000,000 rows, in the order of the file, and no worker may use more than
// 256 MB above an idle one.
// npm run faults:r8-import [-- --rows 1000000 --kills 6 --only csv]
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { WorkerChild } from '#server/runs/engine/testing/worker-child.ts'
import { makeCsv, makeXlsx } from '#test/builders/large-file.ts'
import { callOver } from '#test/builders/sheets.ts'
import { awaitImport, putFile, startImport, stateOf } from '#test/guards/imports.ts'
import { openInstallation } from '#test/plumbing/installation.ts'
import { residentMb, watchMemory } from '#test/plumbing/resident-memory.ts'
import { check, say, sayVerdict } from './checks/installation.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    kills: { type: 'string', default: '6' },
    only: { type: 'string' },
  },
})
const ROWS = Number(values.rows)
const KILLS = Number(values.kills)
const MEMORY_MB = 256
const FORMATS = { csv: makeCsv, xlsx: makeXlsx }

const installation = await openInstallation()
const { orgId, key } = await installation.makeOrg('R8')
const server = await installation.startServer({ LOAM_ROLES: 'api' })
const call = callOver(server.url, key)

let worker: WorkerChild
async function startWorker(): Promise<void> {
  worker = await installation.startWorker({ LOAM_CONCURRENCY: '20' })
}

async function importWithKills(format: keyof typeof FORMATS, idleMb: number): Promise<void> {
  const file_ref = await putFile(installation, orgId, `rows.${format}`, FORMATS[format](ROWS))
  const memory = watchMemory(() => [worker.child.pid ?? 0])
  const began = Date.now()
  const base = await startImport(call, file_ref)
  for (let kills = 1; kills <= KILLS; kills += 1) {
    // Each kill is a little later. The first happens while the file is still being inspected.
    const wanted = kills === 1 ? 0 : Math.floor((ROWS * (kills - 1)) / (KILLS + 1))
    while ((await stateOf(call, base)).rows_imported < wanted) await sleep(10)
    await sleep(kills === 1 ? 300 : Math.random() * 200)
    worker.child.kill('SIGKILL')
    await worker.ended
    const { status, rows_imported } = await stateOf(call, base)
    say(`${format}: kill -9 at ${rows_imported} rows (${status})`)
    await startWorker()
  }
  const end = await awaitImport(call, base)
  const seconds = (Date.now() - began) / 1000
  const peak = memory.stop()
  say(
    `${format}: ended after ${seconds.toFixed(1)} s; most memory ${peak.toFixed(0)} MB, idle ${idleMb.toFixed(0)} MB`,
  )
  check(`${format}: status`, end.status, 'completed')
  check(`${format}: rows_imported`, end.rows_imported, ROWS)
  const [found] = await installation.store.query<{ count: number; names: number; ordered: boolean }>({
    text: `select count(*), count(distinct data ->> '1') as names,
      coalesce(bool_and(data ->> '1' = 'Company ' || (seq - 1)), false) as ordered from rows
      where org_id = $1 and sheet_id = $2`,
    values: [orgId, base.slice(-36)],
  })
  check(`${format}: rows`, found?.count, ROWS)
  check(`${format}: different rows`, found?.names, ROWS)
  check(`${format}: rows in the order of the file`, found?.ordered, true)
  check(`${format}: memory above an idle worker is at most ${MEMORY_MB} MB`, peak - idleMb <= MEMORY_MB, true)
}

try {
  await startWorker()
  await sleep(3000)
  const idleMb = residentMb(worker!.child.pid ?? 0)
  for (const format of ['csv', 'xlsx'] as const) {
    if (values.only === undefined || values.only === format) await importWithKills(format, idleMb)
  }
  sayVerdict('R8 (import)')
} finally {
  await installation.close()
}
