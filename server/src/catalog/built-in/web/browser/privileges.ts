import { execFile } from 'node:child_process'
import { chownSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Account, currentAccount, findNobody } from '../../../../lib/accounts.ts'

/** Describes the privileges of Chromium on this machine. */
export type Privileges = {
  /** The user that root switches to before it starts Chromium, or null if the user does not change. */
  account: Account | null
  /** Set if the kernel lets Chromium sandbox its own processes. */
  hasSandbox: boolean
  /** The missing privilege and the reason, or null if none is missing. */
  lacks: string | null
}

/**
 * Determines the privileges by trial. If this process is root, Chromium runs as nobody, like PostgreSQL, since its
 * sandbox refuses root.
 */
export async function findPrivileges(path: string): Promise<Privileges> {
  const isRoot = currentAccount().uid === 0
  const account = isRoot ? await findUsable(path) : null
  if (typeof account === 'string')
    return { account: null, hasSandbox: false, lacks: `it runs as root without its sandbox: ${account}` }
  const prefix = account === null ? [] : dropTo(account)
  const hasSandbox = hasHelper(path) || (await runs([...prefix, 'unshare', '--user', '--net', 'true']))
  const lacks = hasSandbox ? null : 'it runs without its sandbox: the kernel grants no user namespaces'
  return { account, hasSandbox, lacks }
}

/** Returns the user to switch to, or the reason why there is none. */
async function findUsable(path: string): Promise<Account | string> {
  const account = findNobody()
  if (account === null) return '/etc/passwd has no user nobody'
  const drop = dropTo(account)
  if (!(await runs([...drop, 'true']))) return 'setpriv (util-linux) is not there, or may not change the user'
  for (const place of [path, tmpdir()]) {
    if (!(await runs([...drop, 'test', '-x', place]))) return `the user nobody cannot reach ${place}`
  }
  return account
}

const dropTo = ({ uid, gid }: Account) => ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']

/** Returns true if the setuid helper is there, which packages install for kernels without user namespaces. */
function hasHelper(path: string): boolean {
  const places = [join(dirname(path), 'chrome-sandbox'), '/usr/lib/chromium/chrome-sandbox']
  return places.some((place) => {
    const found = statSync(place, { throwIfNoEntry: false })
    return found !== undefined && found.uid === 0 && (found.mode & 0o4000) !== 0
  })
}

function runs([file = '', ...args]: string[]): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(file, args, { cwd: '/', timeout: 10_000 }, (error) => resolve(error === null))
  })
}

/** Returns the program to start: Chromium, or a script that becomes the user first, with its home and profile. */
export function programFor(path: string, account: Account | null, home: string): string {
  if (account === null) return path
  const owner = `${account.uid}:${account.gid}`
  const lines = [
    '#!/bin/sh',
    'for flag; do case $flag in --user-data-dir=*)',
    `chown -R ${owner} "\${flag#*=}" || exit 1`,
    'esac; done',
    `exec ${dropTo(account).join(' ')} '${path.replaceAll("'", String.raw`'\''`)}' "$@"`,
  ]
  const script = join(home, 'chromium')
  writeFileSync(script, `${lines.join('\n')}\n`, { mode: 0o755 })
  chownSync(home, account.uid, account.gid)
  return script
}
