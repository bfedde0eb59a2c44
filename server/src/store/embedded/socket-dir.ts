import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Account, canEnter, currentAccount } from './account.ts'
import { errorCode } from './error-code.ts'
import { identifyFolder } from './lock.ts'

/** A private folder for PostgreSQL's socket, whose path the kernel limits to 107 bytes. */
export async function openSocketDir(dataDir: string, account: Account): Promise<string> {
  const name = `loam-${identifyFolder(dataDir)}`
  for (const parent of new Set([tmpdir(), '/tmp', '/run'])) {
    if (Buffer.byteLength(join(parent, name)) > 80 || !(await canEnter(account, parent))) continue
    const dir = makeOwnFolder(parent, name, account)
    chownSync(dir, account.uid, account.gid)
    chmodSync(dir, 0o700)
    return dir
  }
  throw new Error(
    `There is no folder for PostgreSQL's socket: neither ${tmpdir()} nor /tmp nor /run will do.`,
  )
}

export async function removeSocketDir(dir: string): Promise<void> {
  rmSync(dir, { recursive: true, force: true })
}

/** The parent is open to all users: a name that someone else has taken is left to them. */
function makeOwnFolder(parent: string, name: string, account: Account): string {
  const dir = join(parent, name)
  try {
    mkdirSync(dir, { mode: 0o700 })
    return dir
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
    const found = lstatSync(dir)
    const ours = [account.uid, currentAccount().uid].includes(found.uid)
    return found.isDirectory() && ours ? dir : mkdtempSync(`${dir}-`)
  }
}
