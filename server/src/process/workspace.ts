import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { openStore, type Store } from '../database/connection/db.ts'
import { toConnectionLimits } from '../database/connection/limits.ts'
import { migrate } from '../database/connection/migrate.ts'
import { requireSessions } from '../database/connection/sessions.ts'
import { openEmbedded, startEmbedded } from '../database/embedded/embedded.ts'
import { openStorage } from '../files/storage/open-storage.ts'
import type { Storage } from '../files/storage/storage.ts'
import type { Config } from '../lib/config/config.ts'
import type { Log } from '../lib/log.ts'
import { createSealer, type Sealer } from '../lib/security/secrets.ts'

/** The opened and migrated database, the files and the secret of one installation. */
export type Workspace = {
  store: Store
  storage: Storage
  sealer: Sealer
  databaseUrl: string
  close(): Promise<void>
}

/**
 * Opens the workspace. A `server` owns the data folder; a `command` shares the database of a running server,
 * or starts it for itself.
 */
export async function openWorkspace(
  config: Config,
  log: Log,
  kind: 'server' | 'command',
  /** Cancels the opening; it then fails with the reason of the signal. */
  end?: AbortSignal,
): Promise<Workspace> {
  mkdirSync(config.LOAM_DATA_DIR, { recursive: true })
  requireFinishedRestore(config.LOAM_DATA_DIR)
  const database = await openDatabase(config, log, kind, end)
  try {
    end?.throwIfAborted()
    if (kind === 'server' && config.DATABASE_URL !== undefined) await requireSessions(database.url)
    await migrate(database.url, (line) => log.info(line))
    const store = openStore({
      url: database.url,
      log,
      connections: kind === 'server' ? 20 : 2,
      limits: toConnectionLimits(config),
    })
    return {
      store,
      storage: openStorage(config),
      sealer: createSealer(loadSecret(config)),
      databaseUrl: database.url,
      async close() {
        try {
          await store.close()
        } finally {
          await database.stop()
        }
      },
    }
  } catch (cause) {
    await database.stop()
    throw cause
  }
}

async function openDatabase(config: Config, log: Log, kind: 'server' | 'command', end?: AbortSignal) {
  if (config.DATABASE_URL !== undefined) return { url: config.DATABASE_URL, stop: async () => {} }
  const open = kind === 'server' ? startEmbedded : openEmbedded
  return open({
    dataDir: config.LOAM_DATA_DIR,
    log: (line) => log.info(line),
    ...(end === undefined ? {} : { end }),
  })
}

/** Returns the path of the file that exists from the first step of a restore to its last. */
export const restoreMark = (dataDir: string): string => join(dataDir, 'restore-unfinished')

function requireFinishedRestore(dataDir: string): void {
  if (!existsSync(restoreMark(dataDir))) return
  throw new Error(`A restore into ${dataDir} did not finish: run loam restore again`)
}

/** Returns the secret that seals stored secrets. The first call creates one if none is set. */
export function loadSecret({ LOAM_SECRET, LOAM_DATA_DIR }: Config): string {
  if (LOAM_SECRET !== undefined) return LOAM_SECRET
  const file = join(LOAM_DATA_DIR, 'secret')
  if (!existsSync(file)) writePrivateFile(file, `${randomBytes(32).toString('hex')}\n`, 'keep the first')
  return readFileSync(file, 'utf8').trim()
}

/**
 * Writes a file completely or not at all, readable only by its owner, and flushes it to the disk before it
 * returns. Of several simultaneous writes the last wins, or the first with `keep the first`.
 */
export function writePrivateFile(path: string, text: string, rule?: 'keep the first'): void {
  const partial = `${path}.${process.pid}.partial`
  const file = openSync(partial, 'w', 0o600)
  writeSync(file, text)
  fsyncSync(file)
  closeSync(file)
  chmodSync(partial, 0o600)
  if (rule === undefined) renameSync(partial, path)
  else linkNew(partial, path)
  const folder = openSync(dirname(path), 'r')
  fsyncSync(folder)
  closeSync(folder)
}

function linkNew(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'EEXIST')) throw cause
  } finally {
    rmSync(from, { force: true })
  }
}
