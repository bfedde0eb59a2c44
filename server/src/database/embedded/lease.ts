import { Client } from 'pg'

export type Lease = { url: string; release: () => Promise<void> }

/** Advisory locks are per database; these are of `postgres`, out of the way of Loam's own. */
const key = 0x6c6f616d

/** Keeps the database that a command runs from being stopped; an error when it does not answer or is stopping. */
export async function acquireLease(url: string | undefined): Promise<Lease | Error> {
  if (!url) return new Error('it is not ready')
  const client = newClient(url)
  try {
    await client.connect()
    if (!(await tryLock(client, 'pg_try_advisory_lock_shared'))) throw new Error('it is being stopped')
    // A stop may have begun before the lock was taken: then this one is refused.
    const second = newClient(url)
    await second.connect()
    await second.end()
    return { url, release: () => client.end() }
  } catch (error) {
    await client.end()
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** Waits until no other command has a lease and lets none take one; undefined when the database does not answer. */
export async function acquireLastLease(url: string, log: (line: string) => void): Promise<Lease | undefined> {
  const client = newClient(url)
  try {
    await client.connect()
    if (!(await tryLock(client, 'pg_try_advisory_lock'))) {
      log('waiting for another loam command that uses this database')
      await client.query(`select pg_advisory_lock(${key})`)
    }
    return { url, release: () => client.end() }
  } catch (error) {
    await client.end()
    log(
      `the database did not answer before its end: ${error instanceof Error ? error.message : String(error)}`,
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
  // A broken connection shows in the queries of whoever uses the database; here it must only not be fatal.
  client.on('error', () => undefined)
  return client
}
