import { createReadStream, existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createGunzip } from 'node:zlib'
import type { z } from 'zod'
import { openStorage } from '../../files/storage/open-storage.ts'
import type { Storage } from '../../files/storage/storage.ts'
import type { Config } from '../../lib/config/config.ts'
import { AppError, invalid } from '../../lib/errors.ts'
import { plural } from '../../lib/plural.ts'
import { restoreMark, writePrivateFile } from '../../process/workspace.ts'
import { migrate, newestSchemaVersion } from '../connection/migrate.ts'
import { startEmbedded } from '../embedded/embedded.ts'
import { notAnArchive, type Part, readParts, removePartNumber } from './archive.ts'
import { Manifest, NAMES, Totals } from './manifest.ts'
import { makeRoom, requireNoOtherKey } from './room.ts'
import { type Load, openLoad } from './sql/load.ts'

export type Restored = Totals & { created_at: string; moved_to: string | null }

type Options = { file: string; replace: boolean; progress: (line: string) => void }

/**
 * Restores an archive into an empty data folder, or into an empty database of the operator's. All rows become visible with
 * the last step, and no server starts on the folder before that. After a kill at any moment, the restore can be run again.
 */
export async function restoreBackup(config: Config, options: Options): Promise<Restored> {
  const parts = openParts(options.file)
  try {
    const manifest = parse(Manifest, await parts.take(NAMES.manifest))
    requireKnownSchema(manifest)
    const secret = (await parts.take(NAMES.secret)).bytes.toString()
    requireSecret(config, secret, options.file)

    const dataDir = config.LOAM_DATA_DIR
    const movedTo = await makeRoom(config, options.replace)
    const database = await openDatabase(config)
    try {
      const totals = await fill({ config, databaseUrl: database.url }, parts, manifest, options)
      if (config.LOAM_SECRET === undefined) writePrivateFile(join(dataDir, 'secret'), `${secret}\n`)
      await migrate(database.url, options.progress)
      await rm(restoreMark(dataDir), { force: true })
      return { ...totals, created_at: manifest.created_at, moved_to: movedTo }
    } finally {
      await database.stop()
    }
  } finally {
    await parts.close()
  }
}

function requireKnownSchema({ schema_version }: Manifest): void {
  const newest = newestSchemaVersion()
  if (schema_version <= newest) return
  throw new AppError(
    'Unprocessable Entity',
    `The archive has schema version ${schema_version}, this program knows up to ${newest}: restore it with a newer Loam`,
  )
}

/** Requires the archive's secret: sealed values open with no other. */
function requireSecret({ LOAM_SECRET }: Config, secret: string, file: string): void {
  if (LOAM_SECRET === undefined) return
  const known = new Set(LOAM_SECRET.split(',').map((part) => part.trim()))
  if (secret.split(',').every((part) => known.has(part.trim()))) return
  throw invalid(
    'LOAM_SECRET',
    `must hold the secret of the archive, alone or after a new one and a comma; tar -xzOf ${file} secret prints it`,
  )
}

async function openDatabase(config: Config): Promise<{ url: string; stop(): Promise<void> }> {
  if (config.DATABASE_URL !== undefined) return { url: config.DATABASE_URL, stop: async () => {} }
  return startEmbedded({ dataDir: config.LOAM_DATA_DIR, log: () => {} })
}

async function fill(
  { config, databaseUrl }: { config: Config; databaseUrl: string },
  parts: Parts,
  manifest: Manifest,
  { progress }: Options,
): Promise<Totals> {
  await migrate(databaseUrl, progress, manifest.schema_version)
  const load = await openLoad(databaseUrl, {
    tables: manifest.tables,
    sequences: manifest.sequences,
    queueVersion: manifest.queue_version,
  })
  try {
    const adminKey = await parts.takeIf(NAMES.adminKey)
    if (adminKey !== null) requireNoOtherKey(config.LOAM_DATA_DIR, adminKey.bytes.toString())
    const files = await restoreFiles(openStorage(config), parts)
    const rows = await restoreTables(load, parts, manifest, progress)
    const totals = parse(Totals, await parts.take(NAMES.totals))
    if (totals.rows !== rows || totals.files !== files) throw notAnArchive()
    if (adminKey !== null)
      writePrivateFile(join(config.LOAM_DATA_DIR, 'admin-key'), adminKey.bytes.toString())
    await load.commit()
    return totals
  } finally {
    await load.close()
  }
}

async function restoreFiles(storage: Storage, parts: Parts): Promise<number> {
  let files = 0
  for (let next = await parts.peek(); next.name.startsWith(NAMES.files); next = await parts.peek()) {
    const name = removePartNumber(next.name)
    await storage.write(name.slice(NAMES.files.length), readBody(parts, name))
    files += 1
  }
  return files
}

async function* readBody(parts: Parts, name: string): AsyncGenerator<Buffer> {
  while (removePartNumber((await parts.peek()).name) === name) yield (await parts.next()).bytes
}

async function restoreTables(
  load: Load,
  parts: Parts,
  { tables }: Manifest,
  progress: (line: string) => void,
): Promise<number> {
  let rows = 0
  const known = new Map(tables.map((table) => [`${NAMES.tables}${table.schema}.${table.name}`, table]))
  for (let next = await parts.peek(); next.name.startsWith(NAMES.tables); next = await parts.peek()) {
    const { name, bytes } = await parts.next()
    const table = known.get(removePartNumber(name))
    if (table === undefined) throw notAnArchive()
    if (bytes.length === 0) continue
    rows += await load.add(table, bytes)
    progress(`${table.name} restored, ${plural(rows, 'row')} so far`)
  }
  return rows
}

type Parts = ReturnType<typeof openParts>

/** Opens the parts of a file for reading, with a look at the next one. */
function openParts(file: string) {
  if (!existsSync(file)) throw invalid('file', `${file} does not exist`)
  const source = createReadStream(file)
  const gunzip = createGunzip()
  source.on('error', (cause) => gunzip.destroy(cause))
  const iterator = readParts(source.pipe(gunzip))
  let ahead: Part | undefined
  const peek = async (): Promise<Part> => (ahead ??= await readNext(iterator))
  const next = async (): Promise<Part> => {
    const part = await peek()
    ahead = undefined
    return part
  }
  const takeIf = async (name: string) => ((await peek()).name === name ? await next() : null)
  return {
    peek,
    next,
    takeIf,
    async take(name: string): Promise<Part> {
      const part = await takeIf(name)
      if (part === null) throw notAnArchive()
      return part
    },
    async close() {
      source.destroy()
      gunzip.destroy()
    },
  }
}

async function readNext(iterator: AsyncIterator<Part>): Promise<Part> {
  try {
    const { value, done } = await iterator.next()
    if (done !== true) return value
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    if (!code.startsWith('Z_')) throw cause
  }
  throw notAnArchive()
}

function parse<T>(schema: z.ZodType<T>, { bytes }: Part): T {
  try {
    return schema.parse(JSON.parse(bytes.toString()))
  } catch {
    throw notAnArchive()
  }
}
