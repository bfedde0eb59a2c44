import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { afterAll, expect, it } from 'vitest'
import { makeApp, testConfig } from '#test/harness.ts'
import { HEADERS, makeCsv, makeXlsx, valuesOf } from '#test/large-file.ts'
import { makeRowSheet } from '#test/rows.ts'
import { watch } from '../engine/testing/worker-child.ts'
import { openStorage } from './storage.ts'
import { storeUpload } from './uploads.ts'

const ROWS = 30_000
const KILLS = 2
const PROGRAM = fileURLToPath(new URL('testing/worker-process.ts', import.meta.url))

const folder = mkdtempSync(join(tmpdir(), 'loam-recovery-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const storage = openStorage(testConfig({ LOAM_DATA_DIR: folder }))
const app = await makeApp({ services: { storage } })
const org = await app.makeOrg()
const mapping = Object.fromEntries(HEADERS.map((name) => [name, name]))

async function startImport(name: string, body: AsyncIterable<Uint8Array>): Promise<string> {
  const base = await makeRowSheet(org, HEADERS)
  const upload = { orgId: org.orgId, name, createdBy: org.adminEmail }
  const { file_ref } = await storeUpload({ db: app.store.system, storage }, upload, body)
  expect((await org.call('POST', `${base}/csv`, { file_ref, mapping })).status).toBe(202)
  return base
}

const statusOf = async (base: string) => (await org.call('GET', `${base}/csv`)).body.data
const startWorker = () =>
  watch(
    spawn(process.execPath, [PROGRAM, app.databaseUrl, folder], { stdio: ['ignore', 'pipe', 'pipe'] }),
    'working',
  )

/** Stops every import in the middle of the transaction of a chunk, and does something while they are stopped. */
async function whileStopped(bases: string[], act: () => Promise<void> = async () => {}): Promise<void> {
  await app.store.system.transaction().execute(async (trx) => {
    const ids = bases.map((base) => base.slice(-36))
    await sql`select from sheet_counters where sheet_id = any(${ids}::uuid[]) for update`.execute(trx)
    await expect.poll(areAllWaiting, { timeout: 60_000 }).toBe(true)
    await act()
  })
}

async function areAllWaiting(): Promise<boolean> {
  const { rows } = await sql<{ all: boolean }>`
    select (select count(*) from imports where status = 'processing') = (
      select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock') as all`.execute(
    app.store.system,
  )
  return rows[0]?.all ?? false
}

it(
  'D41: imports whose workers are killed in the middle of a chunk lose no row and double none',
  { timeout: 180_000 },
  async () => {
    const bases = [
      await startImport('rows.csv', makeCsv(ROWS)),
      await startImport('rows.xlsx', makeXlsx(ROWS)),
    ]
    for (let kills = 0; kills < KILLS; kills++) {
      const worker = await startWorker()
      await whileStopped(bases)
      // The chunks that were stopped are written now; those after them wait again.
      await whileStopped(bases, async () => {
        worker.child.kill('SIGKILL')
        await worker.ended
      })
      for (const base of bases) {
        const { status, rows_imported } = await statusOf(base)
        expect([status, rows_imported > kills * 5000, rows_imported < ROWS]).toEqual([
          'processing',
          true,
          true,
        ])
      }
    }
    const last = await startWorker()
    for (const base of bases) {
      const completed = { status: 'completed', rows_imported: ROWS }
      await expect.poll(() => statusOf(base), { timeout: 60_000 }).toEqual(completed)
      const { rows } = await sql<{ company: string }>`select data ->> '1' as company from rows
      where org_id = ${org.orgId} and sheet_id = ${base.slice(-36)} order by seq`.execute(app.store.system)
      expect(rows.map((row) => row.company)).toEqual(Array.from({ length: ROWS }, (_, n) => valuesOf(n)[0]))
    }
    last.child.kill('SIGKILL')
    await last.ended
  },
)
