import { Client } from 'pg'
import { WAITING_FOR_COMMAND } from '../../lib/log-lines.ts'

export type Lease = { url: string; release: () => Promise<void> }

/**
 * The key of the advisory lock. Such locks belong to one database: this one is taken in `postgres`, apart from Loam's own.
 */
const key = 0x6c6f616d

/**
 * Takes a lease, which prevents the command that runs this database from stopping it. Returns an error if the database does
 * not answer or is being stopped.
 */
export async function acquireLease(url: string | undefined): Promise<Lease | Error> {
  if (!url) return new Error('it is not ready')
  const client = newClient(url)
  try {
    await client.connect()
    if (!(await tryLock(client, 'pg_try_advisory_lock_shared'))) throw new Error('it is being stopped')
    // A stop may have begun before the lock was taken. Then this connection is refused.
    const second = newClient(url)
    try {
      await second.connect()
    } finally {
      await second.end()
    }
    return { url, release: () => client.end() }
  } catch (error) {
    await client.end()
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** Waits until no other command has a lease, and prevents new leases. Returns undefined if the database does not answer. */
export async function acquireLastLease(url: string, log: (line: string) => void): Promise<Lease | undefined> {
  const client = newClient(url)
  try {
    await client.connect()
    if (!(await tryLock(client, 'pg_try_advisory_lock'))) {
      log(WAITING_FOR_COMMAND)
      await client.query(`select pg_advisory_lock(${key})`)
    }
    return { url, release: () => client.end() }
  } catch (error) {
    await client.end()
    log(
      `the database did not answer while it was being stopped: ${error instanceof Error ? error.message : String(error)}`,
    )
    return undefined
  }
}

async function tryLock(client: Client, lock: 'pg_try_advisory_lock' | 'pg_try_advisory_lock_shared') {
  const { rows } = await client.query<{ taken: boolean }>(`select ${lock}(${key}) as taken`)
  return rows[0]?.taken === true
}

function newClient(url: string): Client {
  const target = new URL(url)
  target.pathname = '/postgres'
  const client = new Client({ connectionString: target.href, connectionTimeoutMillis: 5000 })
  // A broken connection fails the queries of the database's users. Here it must only not end the process.
  client.on('error', () => undefined)
  return client
}
