import { readFile, writeFile } from 'node:fs/promises'
import { constants, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PoolClient } from 'pg'
import { reasonOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { driverClient } from './driver-client.ts'

const { PRIORITY_LOW } = constants.priority
/** Linux lets a user, unless it is root, change one session in a tenth of a second. */
const NEXT_SESSION_MS = 120
const MAX_TRIES = 50

/**
 * For connections whose statements nobody waits for: where PostgreSQL runs on this machine, on Linux, its process for this one comes
 * after all others that want a processor. Where the operating system does not let us, it stays as it is.
 */
export async function giveWay(client: PoolClient, log: Log): Promise<void> {
  if (process.platform !== 'linux') return
  const { processID: pid, connection, host, user, database } = driverClient(client)
  try {
    const title = await titleOf(pid)
    const port = host.startsWith('/') ? null : connection.stream.localPort
    if (title === null || !isProcessFor({ user, database, port }, title)) return
    setPriority(pid, PRIORITY_LOW)
    await lowerSession(pid)
  } catch (cause) {
    log.debug({ cause: reasonOf(cause) }, 'statements of rows have the same priority as others')
  }
}

/** What a process says of itself, or null where there is none of this number. */
async function titleOf(pid: number): Promise<string | null> {
  try {
    return await readFile(`/proc/${pid}/cmdline`, 'utf8')
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return null
    throw cause
  }
}

/**
 * Whether this is the title that PostgreSQL gives its process for a connection from us, by a local socket where no port is given. A
 * server on another machine, or in a container of its own, has numbers for its processes that mean others here.
 */
export function isProcessFor(
  { user, database, port }: { user: string; database: string; port: number | null | undefined },
  title: string,
): boolean {
  const from = port === null ? ' [local] ' : `(${port}) `
  return title.startsWith('postgres: ') && title.includes(` ${user} ${database} `) && title.includes(from)
}

/** Each process of PostgreSQL is a session, and sessions share the processors evenly, whatever the priorities within them. */
async function lowerSession(pid: number): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await writeFile(`/proc/${pid}/autogroup`, String(PRIORITY_LOW))
    } catch (cause) {
      if (tries === MAX_TRIES || codeOf(cause) !== 'EAGAIN') throw cause
      await sleep(NEXT_SESSION_MS)
    }
  }
}

const codeOf = (cause: unknown) => (cause as NodeJS.ErrnoException).code
