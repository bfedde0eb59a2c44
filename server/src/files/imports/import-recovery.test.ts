import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { afterAll, expect, it } from 'vitest'
import { HEADERS, makeCsv, makeXlsx, valuesOf } from '#test/builders/large-file.ts'
import { makeRowSheet } from '#test/builders/rows.ts'
import { makeApp, testConfig } from '#test/plumbing/harness.ts'
import { watch, WORKING } from '../../runs/engine/testing/worker-child.ts'
import { openStorage } from '../storage/open-storage.ts'
import { storeUpload } from '../uploads.ts'

const ROWS = 30_000
const CHUNK_ROWS = 5000
const PROGRAM = fileURLToPath(new URL('../testing/worker-process.ts', import.meta.url))

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
    WORKING,
  )

/** The lock that stops the transaction of the gated chunk between its rows and its commit. */
const GATE = 41
await sql`create table gate (chunk int not null)`.execute(app.store.system)
await sql`insert into gate values (0)`.execute(app.store.system)
await sql`
  create function wait_at_gate() returns trigger language plpgsql as $$
  begin
    if exists (select from imports, gate where chunks >= gate.chunk) then
      perform pg_advisory_xact_lock_shared(${sql.lit(GATE)});
    end if;
    return null;
  end $$`.execute(app.store.system)
await sql`create trigger gate after insert on rows execute function wait_at_gate()`.execute(app.store.system)

/** Starts a worker and kills it when every import is in the middle of the given chunk. */
async function killAtChunk(chunk: number): Promise<void> {
  await sql`update gate set chunk = ${chunk}`.execute(app.store.system)
  await app.store.system.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${GATE})`.execute(trx)
    const worker = await startWorker()
    await expect.poll(countStopped).toBe(2)
    worker.child.kill('SIGKILL')
    await worker.ended
  })
}

async function countStopped(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int from pg_locks join pg_database on pg_database.oid = database
    where datname = current_database() and locktype = 'advisory' and objid = ${GATE} and not granted`.execute(
    app.store.system,
  )
  return rows[0]?.count ?? 0
}

it('D41: imports whose workers are killed in the middle of a chunk lose no row and double none', async () => {
  const bases = [await startImport('rows.csv', makeCsv(ROWS)), await startImport('rows.xlsx', makeXlsx(ROWS))]
  for (const chunk of [2, 4]) {
    await killAtChunk(chunk)
    for (const base of bases) {
      const { status, rows_imported } = await statusOf(base)
      expect(status).toBe('processing')
      expect(rows_imported).toBeGreaterThanOrEqual((chunk - 1) * CHUNK_ROWS)
      expect(rows_imported).toBeLessThan(chunk * CHUNK_ROWS)
    }
  }
  const last = await startWorker()
  for (const base of bases) {
    const completed = { status: 'completed', rows_imported: ROWS }
    await expect.poll(() => statusOf(base)).toEqual(completed)
    const { rows } = await sql<{ company: string }>`select data ->> '1' as company from rows
      where org_id = ${org.orgId} and sheet_id = ${base.slice(-36)} order by seq`.execute(app.store.system)
    expect(rows.map((row) => row.company)).toEqual(Array.from({ length: ROWS }, (_, n) => valuesOf(n)[0]))
  }
  last.child.kill('SIGKILL')
  await last.ended
})
