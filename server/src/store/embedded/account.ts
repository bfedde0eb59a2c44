import { execFile } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The user that PostgreSQL runs as. */
export type Account = { uid: number; gid: number }

/** Neither the caller's PG* settings nor Loam's secrets reach PostgreSQL, and no locale has to exist. */
export const environment = { LC_ALL: 'C', PATH: '/usr/bin:/bin' }

/** PostgreSQL refuses to run as root: there it runs as the owner of the database files, or as nobody. */
export function chooseAccount(dataDir: string): Account {
  const self = currentAccount()
  if (self.uid !== 0) return self
  const cluster = statSync(join(dataDir, 'postgres'), { throwIfNoEntry: false })
  return cluster && cluster.uid !== 0 ? { uid: cluster.uid, gid: cluster.gid } : findNobody()
}

export function currentAccount(): Account {
  const uid = process.geteuid?.()
  const gid = process.getegid?.()
  if (uid === undefined || gid === undefined) throw new Error(`There is no user id on ${process.platform}.`)
  return { uid, gid }
}

function findNobody(): Account {
  const entry = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'))
  if (!entry)
    throw new Error(
      'Loam runs as root, where PostgreSQL needs the user "nobody", which /etc/passwd does not have. ' +
        'Start Loam as an ordinary user, or set DATABASE_URL.',
    )
  return { uid: Number(entry[1]), gid: Number(entry[2]) }
}

export function runAs(
  account: Account,
  file: string,
  args: string[],
): Promise<{ ok: boolean; output: string }> {
  return new Promise((resolve) => {
    execFile(file, args, { ...account, cwd: '/', env: environment }, (error, stdout, stderr) =>
      resolve({ ok: !error, output: `${stdout}${stderr}`.trim() || (error?.message ?? '') }),
    )
  })
}

/** Tried for real: modes alone do not tell (access lists, mounts, closed parents). */
export async function canEnter(account: Account, dir: string): Promise<boolean> {
  return (await runAs(account, '/bin/sh', ['-c', 'cd -- "$1"', 'sh', dir])).ok
}
