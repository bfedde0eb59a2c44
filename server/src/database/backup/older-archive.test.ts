import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import pg from 'pg'
import { afterAll, expect, it } from 'vitest'
import { createDatabase } from '#test/plumbing/databases.ts'
import { makeApp, testConfig } from '#test/plumbing/harness.ts'
import { startTestWorker } from '#test/plumbing/worker.ts'
import { openStorage } from '../../files/storage/open-storage.ts'
import { createLog } from '../../lib/log.ts'
import { createSealer } from '../../lib/security/secrets.ts'
import { openStore } from '../connection/db.ts'
import { newestSchemaVersion } from '../connection/migrate.ts'
import { packEnd, packPart, type Part, readParts } from './archive.ts'
import { restoreBackup } from './restore.ts'

/**
 * An archive made by `loam backup` of the version with schema 24: a sheet with rows that ran, a file, a shortcut, and a
 * sealed connection.
 */
const ARCHIVE = fileURLToPath(new URL('testing/schema-24.tar.gz', import.meta.url))

const folder = mkdtempSync(join(tmpdir(), 'loam-older-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function* whole() {
  yield gunzipSync(readFileSync(ARCHIVE))
}

async function readPart(wanted: string): Promise<string> {
  for await (const { name, bytes } of readParts(whole())) if (name === wanted) return bytes.toString().trim()
  throw new Error(`the archive has no ${wanted}`)
}

/** Writes the archive with some of its parts replaced. */
async function writeChanged(change: (part: Part) => Part[]): Promise<string> {
  const packed: Buffer[] = []
  for await (const part of readParts(whole())) for (const one of change(part)) packed.push(...packPart(one))
  const file = join(folder, `${packed.length}-${Date.now()}.tar.gz`)
  writeFileSync(file, gzipSync(Buffer.concat([...packed, packEnd()])))
  return file
}

it('an archive of an older version is restored: later migrations follow, and what was there works on', async () => {
  const url = await createDatabase()
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

  // The file is there, and rows can still run.
  await startTestWorker({ ...app, databaseUrl: url })
  const { file_ref } = await store.system.selectFrom('files').select('file_ref').executeTakeFirstOrThrow()
  const mapping = { Name: 'company', Web: 'website' }
  const started = await call('POST', `${base}/csv`, { file_ref, mapping, run_after_import: 'all' })
  expect(started.status).toBe(202)
  const status = async () => (await call('GET', `${base}/csv`)).body.data
  await expect.poll(status).toEqual({ status: 'completed', rows_imported: 1 })
  const rows = async () => (await call('POST', `${base}/rows/list`, {})).body.data.rows
  await expect
    .poll(async () => (await rows()).map((row: { row_status: string }) => row.row_status))
    .toEqual(['complete', 'complete', 'complete', 'complete'])

  // Sealed values open with the secret of the archive.
  const { org_id, connection_id, fields_sealed } = await store.system
    .selectFrom('connections')
    .selectAll()
    .executeTakeFirstOrThrow()
  const binding = { orgId: org_id, record: `connection ${connection_id} fields` }
  expect(sealer.open(fields_sealed, binding)).toContain('key-of-a-provider')
})

it('F49: a restore writes over nothing that is not its own: no other table, file or key', async () => {
  const url = await createDatabase()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const dataDir = mkdtempSync(join(folder, 'other-'))
  const config = testConfig({
    DATABASE_URL: url,
    LOAM_SECRET: await readPart('secret'),
    LOAM_DATA_DIR: dataDir,
  })
  const restore = async (file: string) => restoreBackup(config, { file, replace: false, progress: () => {} })
  const hostile = (more: object) =>
    writeChanged((part) => {
      if (part.name !== 'manifest.json') return [part]
      const manifest = JSON.parse(part.bytes.toString())
      for (const [key, list] of Object.entries(more)) manifest[key].push(...list)
      return [{ ...part, bytes: Buffer.from(JSON.stringify(manifest)) }]
    })
  try {
    await client.query('create schema other')
    await client.query('create table other.precious as select 1 as n')
    await client.query('create sequence other.numbers')
    const table = { schema: 'other', name: 'precious', columns: [] }
    await expect(restore(await hostile({ tables: [table] }))).rejects.toThrow('"other"."precious"')
    const sequence = { schema: 'other', name: 'numbers', last_value: '7', is_called: true }
    await expect(restore(await hostile({ sequences: [sequence] }))).rejects.toThrow('"other"."numbers"')
    expect((await client.query('select n from other.precious')).rows).toEqual([{ n: 1 }])

    const outside = await writeChanged((part) => [
      part.name.startsWith('files/') ? { ...part, name: 'files/../../outside.000001' } : part,
    ])
    await expect(restore(outside)).rejects.toThrow('not a valid key of a file')
    expect(existsSync(join(dataDir, '..', 'outside'))).toBe(false)

    const key = join(dataDir, 'admin-key')
    writeFileSync(key, 'of another installation\n')
    await expect(restore(ARCHIVE)).rejects.toThrow('is that of another installation')
    expect(readFileSync(key, 'utf8')).toBe('of another installation\n')
    rmSync(key)
    expect((await client.query('select count(*)::int as n from organisations')).rows).toEqual([{ n: 0 }])
    // Nothing prevents the restore of the archive itself.
    expect(await restore(ARCHIVE)).toMatchObject({ rows: 146 })
    expect(readFileSync(key, 'utf8').trim()).toBe(await readPart('admin-key'))
  } finally {
    await client.end()
  }
})
