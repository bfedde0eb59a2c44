import { readFileSync } from 'node:fs'

/** The user and group that a process runs as. */
export type Account = { uid: number; gid: number }

export function currentAccount(): Account {
  const uid = process.geteuid?.()
  const gid = process.getegid?.()
  if (uid === undefined || gid === undefined) throw new Error(`There is no user id on ${process.platform}.`)
  return { uid, gid }
}

/**
 * Returns the account `nobody`, which has no rights, or null if the system has none. A server started as root
 * runs the processes that strangers can reach as this account.
 */
export function findNobody(): Account | null {
  const entry = /^nobody:[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8'))
  return entry === null ? null : { uid: Number(entry[1]), gid: Number(entry[2]) }
}
