import { lchownSync, lstatSync, mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCode } from '../../lib/errors.ts'
import { type Account, canEnter } from './account.ts'
import { identifyFolder } from './lock.ts'

/** Opens a private folder for PostgreSQL's socket. The kernel limits the path of a socket to 107 bytes. */
export async function openSocketDir(dataDir: string, account: Account): Promise<string> {
  const name = `loam-${identifyFolder(dataDir)}`
  for (const parent of new Set([tmpdir(), '/tmp', '/run'])) {
    if (Buffer.byteLength(join(parent, name)) > 80 || !(await canEnter(account, parent))) continue
    const dir = makePrivateFolder(join(parent, name), account)
    if (dir) return dir
  }
  throw new Error(
    `There is no folder for PostgreSQL's socket: ${tmpdir()}, /tmp and /run cannot be used. ` +
      "PostgreSQL's user must be able to enter one of them.",
  )
}

export async function removeSocketDir(dir: string): Promise<void> {
  clearSocketDir(dir)
  try {
    rmdirSync(dir)
  } catch (error) {
    // A cleaner of temporary files removed it first, or someone put a file there that is not ours.
    if (!['ENOENT', 'ENOTEMPTY'].includes(errorCode(error))) throw error
  }
}

/** Removes the socket's files one by one. Root must not delete a folder of another user recursively. */
export function clearSocketDir(dir: string): void {
  rmSync(join(dir, '.s.PGSQL.5432'), { force: true })
  rmSync(join(dir, '.s.PGSQL.5432.lock'), { force: true })
}

/** Makes a private folder. The parent is open to all users, so a name that someone else has taken is left to them. */
function makePrivateFolder(dir: string, account: Account): string | undefined {
  const found = lstatSync(dir, { throwIfNoEntry: false })
  if (found?.isDirectory() && found.uid === account.uid && (found.mode & 0o777) === 0o700) return dir
  try {
    const made = found ? mkdtempSync(`${dir}-`) : dir
    if (!found) mkdirSync(made, { mode: 0o700 })
    lchownSync(made, account.uid, account.gid)
    return made
  } catch (error) {
    if (['EACCES', 'EEXIST', 'EROFS'].includes(errorCode(error))) return undefined
    throw error
  }
}
