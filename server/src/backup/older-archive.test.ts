import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { afterAll, expect, it } from 'vitest'
import { makeApp, targets, testConfig } from '#test/harness.ts'
import { startTestWorker } from '#test/worker.ts'
import { databaseUrl } from '../../../test/global-setup.ts'
import { openStorage } from '../files/storage/open-storage.ts'
import { createLog } from '../lib/log.ts'
import { createSealer } from '../lib/security/secrets.ts'
import { openStore } from '../store/connection/db.ts'
import { newestSchemaVersion } from '../store/connection/migrate.ts'
import { readParts } from './archive.ts'
import { restoreBackup } from './restore.ts'

/** Made by `loam backup` of the version with schema 24: a sheet with rows that ran, a file, a shortcut, a sealed connection. */
const ARCHIVE = fileURLToPath(new URL('testing/schema-24.tar.gz', import.meta.url))

const folder = mkdtempSync(join(tmpdir(), 'loam-older-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** An empty database, as an operator makes one: without any table. */
async function makeEmptyDatabase(): Promise<string> {
  const [target] = targets()
  if (target === undefined) throw new Error('the global set-up started no PostgreSQL')
  const run = async (statement: string) => {
    const client = new pg.Client({ connectionString: target.url })
    await client.connect()
    try {
      await client.query(statement)
    } finally {
      await client.end()
    }
  }
  const name = `test_older_${process.pid}_${Date.now()}`
  await run(`create database ${name}`)
  afterAll(() => run(`drop database ${name} with (force)`))
  return databaseUrl(target.url, name)
}

async function readPart(wanted: string): Promise<string> {
  async function* whole() {
    yield gunzipSync(readFileSync(ARCHIVE))
  }
  for await (const { name, bytes } of readParts(whole())) if (name === wanted) return bytes.toString().trim()
  throw new Error(`the archive has no ${wanted}`)
}

it('an archive of an older version is restored: later migrations follow, and what was there works on', async () => {
  const url = await makeEmptyDatabase()
  const [secret, key, manifest] = [
    await readPart('secret'),
    await readPart('admin-key'),
    await readPart('manifest.json'),
  ]
  expect(JSON.parse(manifest).schema_version).toBe(24)
  expect(newestSchemaVersion()).toBeGreaterThan(24)
  const config = testConfig({ DATABASE_URL: url, LOAM_SECRET: secret, LOAM_DATA_DIR: folder })
  const lines: string[] = []
  const restored = await restoreBackup(config, {
    file: ARCHIVE,
    replace: false,
    progress: (line) => lines.push(line),
  })
  expect(restored).toMatchObject({ rows: 146, files: 1, files_gone: 0, moved_to: null })
  expect(lines.at(-1)).toMatch(/^applying migration|^migrating/)

  const store = openStore({ url, log: createLog('silent') })
  afterAll(() => store.close())
  const sealer = createSealer(secret)
  const app = await makeApp({ services: { store, sealer, storage: openStorage(config) } })
  const call = (method: string, path: string, body?: unknown) => app.call(key, method, path, body)
  const workflow = (await call('GET', '/workflows')).body.data[0]
  const base = `/workflows/${workflow.workflow_id}/sheets/${workflow.workflow_id}`
  const before = (await call('POST', `${base}/rows/list`, {})).body.data
  expect(before.rows.map((row: { cells: object }) => row.cells)).toMatchObject(
    ['stripe.com', 'acme.example', 'globex.example'].map((domain) => ({
      normalize_domain_1: { status: 'complete', outputs: { domain } },
    })),
  )
  expect((await call('GET', '/shortcuts')).body.data).toMatchObject([
    { name: 'Clean domain', is_published: true },
  ])

  // The file is there, and rows run on.
  await startTestWorker({ ...app, databaseUrl: url })
  const { file_ref } = await store.system.selectFrom('files').select('file_ref').executeTakeFirstOrThrow()
  const mapping = { Name: 'company', Web: 'website' }
  const started = await call('POST', `${base}/csv`, { file_ref, mapping, run_after_import: 'all' })
  expect(started.status).toBe(202)
  const status = async () => (await call('GET', `${base}/csv`)).body.data
  await expect.poll(status, { timeout: 50_000 }).toEqual({ status: 'completed', rows_imported: 1 })
  const rows = async () => (await call('POST', `${base}/rows/list`, {})).body.data.rows
  await expect
    .poll(async () => (await rows()).map((row: { row_status: string }) => row.row_status), {
      timeout: 50_000,
    })
    .toEqual(['complete', 'complete', 'complete', 'complete'])

  // What was sealed opens with the secret of the archive.
  const { org_id, connection_id, fields_sealed } = await store.system
    .selectFrom('connections')
    .selectAll()
    .executeTakeFirstOrThrow()
  const binding = { orgId: org_id, record: `connection ${connection_id} fields` }
  expect(sealer.open(fields_sealed, binding)).toContain('key-of-a-provider')
})
