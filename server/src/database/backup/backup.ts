import { createWriteStream, existsSync, readdirSync, rmSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { exportFileKey } from '../../files/exports/export-job.ts'
import type { Storage } from '../../files/storage/storage.ts'
import { createStorageKey } from '../../files/store/files.ts'
import { AppError } from '../../lib/errors.ts'
import { isAlive } from '../../lib/is-alive.ts'
import { plural } from '../../lib/plural.ts'
import { packEnd, packPart, type Part, splitIntoParts } from './archive.ts'
import { FORMAT, type Manifest, NAMES, type Totals } from './manifest.ts'
import { type Dump, openDump } from './sql/dump.ts'

export type BackupOptions = {
  databaseUrl: string
  /** The folder of files; null if files are in a bucket, which is no part of the archive. */
  storage: Storage | null
  secret: string
  adminKey: string | null
  progress: (line: string) => void
}

/**
 * Writes one archive of an installation, which may be serving meanwhile. The archive holds the database as of one moment, the
 * files that the database names, and the secret that opens its sealed values. The file gets its name only when it is
 * completely on the disk.
 */
export async function writeBackup(file: string, options: BackupOptions): Promise<Totals> {
  const target = resolve(file)
  if (existsSync(target)) throw new AppError('Conflict', `${file} exists already: name another file`)
  removeAbandoned(target)
  const partial = `${target}.${process.pid}.partial`
  const dump = await openDump(options.databaseUrl)
  const totals: Totals = { rows: 0, files: 0, files_gone: 0 }
  try {
    await pipeline(
      Readable.from(pack(createParts(dump, options, totals)), { objectMode: false }),
      createGzip({ level: 1 }),
      createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true }),
    )
    await rename(partial, target)
    await syncFolder(dirname(target))
    return totals
  } catch (cause) {
    rmSync(partial, { force: true })
    throw cause
  } finally {
    dump.close()
  }
}

async function* pack(parts: AsyncIterable<Part>): AsyncGenerator<Buffer> {
  for await (const part of parts) yield* packPart(part)
  yield packEnd()
}

/** Yields the parts of an archive. Tables come last, so that a restore has everything else when it commits them. */
async function* createParts(dump: Dump, options: BackupOptions, totals: Totals): AsyncGenerator<Part> {
  const manifest: Manifest = {
    format: FORMAT,
    created_at: new Date().toISOString(),
    schema_version: dump.schemaVersion,
    queue_version: dump.queueVersion,
    tables: dump.tables,
    sequences: dump.sequences,
  }
  yield textPart(NAMES.manifest, JSON.stringify(manifest))
  yield textPart(NAMES.secret, options.secret)
  if (options.adminKey !== null) yield textPart(NAMES.adminKey, options.adminKey)
  if (options.storage !== null) yield* fileParts(dump, options.storage, totals)
  for (const table of dump.tables) {
    yield* splitIntoParts(`${NAMES.tables}${table.schema}.${table.name}`, countRows(dump.copy(table), totals))
    options.progress(`${table.name} written, ${plural(totals.rows, 'row')} so far`)
  }
  yield textPart(NAMES.totals, JSON.stringify(totals))
}

const textPart = (name: string, text: string): Part => ({ name, bytes: Buffer.from(text) })

async function* countRows(blocks: ReturnType<Dump['copy']>, totals: Totals): AsyncGenerator<Buffer> {
  for await (const { bytes, count } of blocks) {
    totals.rows += count
    yield bytes
  }
}

/** Yields the files as parts. A file that expired since the snapshot is missing for its owner too, and is only counted. */
async function* fileParts(dump: Dump, storage: Storage, totals: Totals): AsyncGenerator<Part> {
  const keys = [
    ...dump.uploads.map(createStorageKey),
    ...dump.exports.map((one) => exportFileKey(one, one.attempt)),
  ]
  for (const key of keys) {
    const body = await storage.read(key)
    if (body === null) totals.files_gone += 1
    else {
      yield* splitIntoParts(`${NAMES.files}${key}`, body)
      totals.files += 1
    }
  }
}

/** Removes partial files that earlier backups to this file left when they were killed. */
function removeAbandoned(target: string): void {
  const start = `${basename(target)}.`
  for (const name of readdirSync(dirname(target))) {
    const pid = name.startsWith(start) ? /^(\d+)\.partial$/.exec(name.slice(start.length))?.[1] : undefined
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(dirname(target), name), { force: true })
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
