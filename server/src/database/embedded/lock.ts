import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { errorCode } from '../../lib/errors.ts'
import { isAlive } from '../../lib/is-alive.ts'

export type OwnerKind = 'server' | 'command'

/** The process that has locked the data folder. `url` is set once its database is ready. */
export type Owner = { pid: number; kind: OwnerKind; url?: string }

export type Lock = { announce: (url: string) => void; release: () => Promise<void> }

/** Returns a name for the folder that is the same for every path to it. */
export function identifyFolder(dir: string): string {
  const { dev, ino } = statSync(dir, { bigint: true })
  return createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 16)
}

/**
 * Locks the data folder by an abstract socket, which only one process can bind and which the kernel frees however that
 * process ends. Returns undefined if the folder is locked.
 */
export async function acquireLock(dataDir: string, kind: OwnerKind): Promise<Lock | undefined> {
  const server = createServer((socket) => socket.destroy())
  try {
    server.listen({ path: `\0loam-${identifyFolder(dataDir)}`, exclusive: true })
    await once(server, 'listening')
  } catch (error) {
    if (errorCode(error) === 'EADDRINUSE') return undefined
    throw error
  }
  const owner: Owner = { pid: process.pid, kind }
  const release = async () => {
    rmSync(ownerFile(dataDir), { force: true })
    server.close()
    await once(server, 'close')
  }
  try {
    writeOwner(dataDir, owner)
  } catch (error) {
    await release()
    throw error
  }
  return { announce: (url) => writeOwner(dataDir, { ...owner, url }), release }
}

/**
 * Returns the process that has locked the folder. Returns undefined if there is none, and also while the file is still that
 * of an earlier process, which has ended.
 */
export function readOwner(dataDir: string): Owner | undefined {
  try {
    const owner: unknown = JSON.parse(readFileSync(ownerFile(dataDir), 'utf8'))
    return isOwner(owner) && isAlive(owner.pid) ? owner : undefined
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || error instanceof SyntaxError) return undefined
    throw error
  }
}

export class FolderBusyError extends Error {
  override name = 'FolderBusyError'
}

export function createBusyError(dataDir: string, owner: Owner | undefined, trouble?: Error): Error {
  const program = owner ? `Another Loam (process ${owner.pid})` : 'Another Loam'
  const problem = trouble ? `, but its database does not answer: ${trouble.message}` : ''
  return new FolderBusyError(
    `${program} is running on the data folder ${dataDir}${problem}. ` +
      'Stop it first, or set LOAM_DATA_DIR to another folder.',
  )
}

function ownerFile(dataDir: string): string {
  return join(dataDir, 'server.pid')
}

function writeOwner(dataDir: string, owner: Owner): void {
  const unfinished = `${ownerFile(dataDir)}.new`
  rmSync(unfinished, { force: true })
  writeFileSync(unfinished, `${JSON.stringify(owner)}\n`, { flag: 'wx' })
  renameSync(unfinished, ownerFile(dataDir))
}

function isOwner(value: unknown): value is Owner {
  return (
    typeof value === 'object' &&
    value !== null &&
    'pid' in value &&
    typeof value.pid === 'number' &&
    'kind' in value &&
    (value.kind === 'server' || value.kind === 'command') &&
    (!('url' in value) || typeof value.url === 'string')
  )
}
