import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode } from '../../lib/errors.ts'
import { chooseAccount } from './account.ts'
import { findBinaries } from './binaries.ts'
import { openCluster } from './cluster.ts'
import { openDataDir, openSpareDir } from './data-dir.ts'
import { createDatabase, databaseUrl } from './database.ts'
import { acquireLastLease, acquireLease } from './lease.ts'
import { createBusyError, type Lock, type OwnerKind, readOwner, acquireLock } from './lock.ts'
import { clearOrphan } from './orphan.ts'
import { launchPostmaster } from './postmaster.ts'
import { openSocketDir, removeSocketDir } from './socket-dir.ts'
import { createSupervisor, type Supervisor } from './supervisor.ts'

export type EmbeddedOptions = {
  dataDir: string
  /** Receives one readable line for each notable event. */
  log: (line: string) => void
  /** Stops waiting for the start of PostgreSQL and throws the reason of the signal. */
  end?: AbortSignal
}

export type Embedded = { url: string; stop: () => Promise<void> }

/** Runs PostgreSQL on the data folder until `stop()`. Throws if another server uses the folder. */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const dataDir = openDataDir(options.dataDir)
  const deadline = Date.now() + 10_000
  for (;;) {
    const lock = await acquireLock(dataDir, 'server')
    if (lock) return await runServer({ ...options, dataDir }, lock, 'server')
    const owner = readOwner(dataDir)
    if (owner?.kind === 'server' || Date.now() > deadline) throw createBusyError(dataDir, owner)
    options.end?.throwIfAborted()
    await sleep(20)
  }
}

/** Uses the PostgreSQL that runs on the data folder. If none runs, it runs one until `stop()`. */
export async function openEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const dataDir = openDataDir(options.dataDir)
  const deadline = Date.now() + 20_000
  for (;;) {
    const lock = await acquireLock(dataDir, 'command')
    if (lock) return await runServer({ ...options, dataDir }, lock, 'command')
    const owner = readOwner(dataDir)
    const lease = await acquireLease(owner?.url)
    if (!(lease instanceof Error)) return { url: lease.url, stop: lease.release }
    if (errorCode(lease) === 'EACCES' || Date.now() > deadline) throw createBusyError(dataDir, owner, lease)
    await sleep(20)
  }
}

/** Locks the data folder for a caller that moves its files. Ends a PostgreSQL that was left running on them first. */
export async function holdDataDir(path: string): Promise<{ dataDir: string; release: () => Promise<void> }> {
  const dataDir = openDataDir(path)
  const lock = await acquireLock(dataDir, 'command')
  if (lock === undefined) throw createBusyError(dataDir, readOwner(dataDir))
  try {
    const place = join(dataDir, 'postgres')
    if (existsSync(place)) {
      const account = chooseAccount(dataDir)
      const socketDir = await openSocketDir(dataDir, account)
      await clearOrphan({ cluster: realpathSync(place), socketDir, account, log: () => {} })
      await removeSocketDir(socketDir)
    }
    return { dataDir, release: lock.release }
  } catch (cause) {
    await lock.release()
    throw cause
  }
}

async function runServer(
  { dataDir, log, end: giveUp }: EmbeddedOptions,
  lock: Lock,
  kind: OwnerKind,
): Promise<Embedded> {
  const endings = [lock.release]
  const end = async () => {
    for (const ending of endings.toReversed()) await ending()
  }
  let ended: Promise<void> | undefined
  const stop = () => (ended ??= end())

  try {
    const account = chooseAccount(dataDir)
    const binaries = await findBinaries(account, () => openSpareDir(account, dataDir))
    const cluster = await openCluster({ dataDir, account, binaries, log })
    giveUp?.throwIfAborted()
    const socketDir = await openSocketDir(dataDir, account)
    endings.push(() => removeSocketDir(socketDir))
    const url = databaseUrl(socketDir, 'loam', 'loam')
    const logFile = join(dataDir, 'postgres.log')

    const server = createSupervisor({
      clear: () => clearOrphan({ cluster, socketDir, account, log }),
      launch: () => launchPostmaster({ account, binaries, cluster, socketDir, logFile }),
      log,
    })
    endings.push(() => server.stop('fast'))
    await unlessAborted(server.start(), giveUp)
    await createDatabase(socketDir)
    lock.announce(url)

    if (kind === 'command') endings.push(() => stopWhenUnused(server, url, log))
    return { url, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/**
 * Waits for the work, or throws once the signal is aborted. A PostgreSQL that recovers after a crash may need minutes; after
 * an aborted start it recovers again at the next one.
 */
async function unlessAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return work
  const aborted = Promise.withResolvers<never>()
  const giveUp = () => aborted.reject(signal.reason)
  if (signal.aborted) giveUp()
  signal.addEventListener('abort', giveUp, { once: true })
  await Promise.race([work, aborted.promise]).finally(() => signal.removeEventListener('abort', giveUp))
}

/**
 * Stops PostgreSQL when no other command uses it. The stop begins before the last lease is released, so that no command can
 * take one in between.
 */
async function stopWhenUnused(server: Supervisor, url: string, log: (line: string) => void): Promise<void> {
  const lastLease = await acquireLastLease(url, log)
  const stopped = server.stop('smart')
  await lastLease?.release()
  await stopped
}
