import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { type Account, currentAccount, findNobody } from '../../lib/accounts.ts'

export { type Account, currentAccount }

/**
 * The environment of PostgreSQL. It holds none of the caller's PG* settings and none of Loam's secrets, and needs no
 * installed locale.
 */
export const environment = { LC_ALL: 'C', PATH: '/usr/bin:/bin' }

/**
 * Returns the user that PostgreSQL runs as. PostgreSQL refuses to run as root; under root it runs as the owner of the
 * database files, or as nobody.
 */
export function chooseAccount(dataDir: string): Account {
  const self = currentAccount()
  if (self.uid !== 0) return self
  const cluster = statSync(join(dataDir, 'postgres'), { throwIfNoEntry: false })
  return cluster && cluster.uid !== 0 ? { uid: cluster.uid, gid: cluster.gid } : requireNobody()
}

function requireNobody(): Account {
  const nobody = findNobody()
  if (nobody === null)
    throw new Error(
      'Loam runs as root, where PostgreSQL needs the user "nobody", which /etc/passwd does not have. ' +
        'Start Loam as an ordinary user, or set DATABASE_URL.',
    )
  return nobody
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

/**
 * Returns true if the account can enter the folder. It tries to, because modes alone do not tell (access lists, mounts,
 * closed parents).
 */
export async function canEnter(account: Account, dir: string): Promise<boolean> {
  return (await runAs(account, '/bin/sh', ['-c', 'cd -- "$1"', 'sh', dir])).ok
}
