import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { errorCode } from './error-code.ts'

export type OwnerKind = 'server' | 'command'

/** Who holds the data folder; the url is there once its database is ready. */
export type Owner = { pid: number; kind: OwnerKind; url?: string }

export type Lock = { announce: (url: string) => void; release: () => Promise<void> }

/** The same for every path that leads to the folder. */
export function identifyFolder(dir: string): string {
  const { dev, ino } = statSync(dir, { bigint: true })
  return createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 16)
}

/** An abstract socket can be bound once, and the kernel frees it however its process ends. */
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

/** Undefined also while the file is of an earlier owner, which is gone. */
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

export function busyError(dataDir: string, owner: Owner | undefined, trouble?: Error): Error {
  const who = owner ? `Another Loam (process ${owner.pid})` : 'Another Loam'
  const what = trouble ? `, but its database does not answer: ${trouble.message}` : ''
  return new FolderBusyError(
    `${who} is running on the data folder ${dataDir}${what}. ` +
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

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}
