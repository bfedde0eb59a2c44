import { readFile, writeFile } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PoolClient } from 'pg'
import { reasonOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { driverClient } from './driver-client.ts'

const { PRIORITY_LOW } = constants.priority
/** The pause between two tries. Linux lets a user other than root change one session in a tenth of a second. */
const NEXT_SESSION_MS = 120
const MAX_TRIES = 50

/**
 * Lowers the priority of PostgreSQL's process for this connection, for statements that nobody waits for. This works
 * on Linux with PostgreSQL on this machine: the process then runs after all others that want a processor. If the
 * operating system refuses, the priority stays as it is.
 */
export async function giveWay(client: PoolClient, log: Log): Promise<void> {
  if (process.platform !== 'linux') return
  const { processID: pid, connection, host, user, database } = driverClient(client)
  try {
    const title = await readTitle(pid)
    const port = host.startsWith('/') ? null : connection.stream.localPort
    if (title === null || !isProcessFor({ user, database, port }, title)) return
    setPriority(pid, PRIORITY_LOW)
    await lowerSession(pid)
  } catch (cause) {
    log.debug(
      { cause: reasonOf(cause) },
      'cannot lower the priority of a database connection; its statements compete with those of requests',
    )
  }
}

/** Returns the title of a process, or null if no process has this number. */
async function readTitle(pid: number): Promise<string | null> {
  try {
    return await readFile(`/proc/${pid}/cmdline`, 'utf8')
  } catch (cause) {
    if (readErrorCode(cause) === 'ENOENT') return null
    throw cause
  }
}

/**
 * Returns true if this is the title of PostgreSQL's process for our connection. A `port` of null means a local
 * socket. The check is needed because a server on another machine, or in a container of its own, has process numbers
 * that belong to other processes here.
 */
export function isProcessFor(
  { user, database, port }: { user: string; database: string; port: number | null | undefined },
  title: string,
): boolean {
  const from = port === null ? ' [local] ' : `(${port}) `
  return title.startsWith('postgres: ') && title.includes(` ${user} ${database} `) && title.includes(from)
}

/**
 * Lowers the priority of the session as well. Each process of PostgreSQL is a session, and sessions share the
 * processors evenly whatever the priorities within them.
 */
async function lowerSession(pid: number): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await writeFile(`/proc/${pid}/autogroup`, String(PRIORITY_LOW))
    } catch (cause) {
      if (tries === MAX_TRIES || readErrorCode(cause) !== 'EAGAIN') throw cause
      await sleep(NEXT_SESSION_MS)
    }
  }
}

const readErrorCode = (cause: unknown) => (cause as NodeJS.ErrnoException).code
