// R8: an export of 1,000,000 rows while the worker that builds it is killed with -9. It must end with exactly
// as many rows in one file, and no process may use more than 256 MB above its memory at rest.
// npm run faults:r8-export [-- --rows 1000000 --kills 2]
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { parse } from 'csv-parse'
import type { WorkerChild } from '#server/runs/engine/testing/worker-child.ts'
import { makeLargeSheet } from '#test/builders/large-sheet.ts'
import { callOver } from '#test/builders/sheets.ts'
import { openInstallation } from '#test/plumbing/installation.ts'
import { residentMb, watchMemory } from '#test/plumbing/resident-memory.ts'
import { check, say, sayVerdict } from './checks/installation.ts'

const { values } = parseArgs({
  options: { rows: { type: 'string', default: '1000000' }, kills: { type: 'string', default: '2' } },
})
const ROWS = Number(values.rows)
const KILLS = Number(values.kills)
const MEMORY_MB = 256
const DEADLINE_MS = 600_000

const installation = await openInstallation()
const workers: WorkerChild[] = []

try {
  const { orgId, key } = await installation.makeOrg('Exports')
  const server = await installation.startServer({ LOAM_ROLES: 'api' })
  const call = callOver(server.url, key)
  const { base } = await makeLargeSheet(installation.store, call, orgId, ROWS)
  const startWorker = async () => workers.push(await installation.startWorker())
  await startWorker()
  await sleep(2000)
  const pids = () => workers.map(({ child }) => child.pid ?? 0)
  const rest = Math.max(...pids().map(residentMb))
  const memory = watchMemory(pids)

  const { export_id } = (await call('POST', `${base}/export`)).data
  say(`${ROWS} rows are exported`)
  const began = Date.now()
  const read = async () => (await call('GET', `${base}/export/${export_id}`)).data
  let kills = 0
  let record = await read()
  while (record.status === 'running' && Date.now() - began < DEADLINE_MS) {
    if (kills < KILLS && record.progress > 20 * (kills + 1)) {
      kills += 1
      workers.at(-1)?.child.kill('SIGKILL')
      say(`kill -9 of the worker; ${record.progress}% were written`)
      await startWorker()
    }
    await sleep(20)
    record = await read()
  }
  const peak = memory.stop()
  say(`${record.status} after ${((Date.now() - began) / 1000).toFixed(1)} s`)

  check('status', record.status, 'completed')
  check('workers killed', kills, KILLS)
  check('row_count', record.row_count, ROWS)
  const { rows, distinct } = await countRows(record.file_url)
  check('rows in the file', rows, ROWS)
  check('different rows in the file', distinct, ROWS)
  check('files', readdirSync(join(installation.folder, 'server/files', orgId)).length, 1)
  say(`at rest ${rest.toFixed(0)} MB, at most ${peak.toFixed(0)} MB`)
  check(`memory grows by at most ${MEMORY_MB} MB`, peak - rest <= MEMORY_MB, true)
  sayVerdict('R8 (export)')
} finally {
  await installation.close()
}

async function countRows(url: string): Promise<{ rows: number; distinct: number }> {
  const response = await fetch(url)
  if (!response.ok || response.body === null) throw new Error(`the file: ${response.status}`)
  const names = new Set<string>()
  let rows = 0
  await pipeline(response.body, parse({ from_line: 2 }), async (records: AsyncIterable<string[]>) => {
    for await (const [name = ''] of records) {
      rows += 1
      names.add(name)
    }
  })
  return { rows, distinct: names.size }
}
