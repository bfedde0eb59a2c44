import { randomInt } from 'node:crypto'
import { Client } from 'pg'

/** The first of the two numbers of such a lock; the second is the process's own. */
const LIFE_LOCKS = 1_818_321_002
const CONNECT_MS = 5000

/**
 * An advisory lock on a connection of its own: PostgreSQL gives it up the moment that the process is gone, however it went.
 * Whoever finds it free need not wait until the process has been silent for long.
 */
export type LifeLock = {
  /** Takes it, also again after the connection was lost. Answers its number. */
  hold(): Promise<number>
  close(): Promise<void>
}

export function createLifeLock(databaseUrl: string): LifeLock {
  const key = randomInt(1, 2 ** 31 - 1)
  let held: Client | undefined

  async function open(): Promise<Client> {
    const client = new Client({
      connectionString: databaseUrl,
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
      application_name: 'loam life',
    })
    const lose = () => {
      if (held === client) held = undefined
    }
    client.on('error', lose)
    client.on('end', lose)
    await client.connect()
    await client.query('select pg_advisory_lock($1, $2)', [LIFE_LOCKS, key])
    return client
  }

  return {
    async hold() {
      held ??= await open()
      return key
    },
    async close() {
      const client = held
      held = undefined
      await client?.end()
    },
  }
}

/** Workers whose lock is free. After PostgreSQL was started anew they need a moment to take it again. */
export const WITHOUT_LIFE = `lock_key is not null
  and not exists (select from pg_locks l join pg_database d on d.oid = l.database
    where d.datname = current_database() and l.locktype = 'advisory' and l.granted
      and l.classid = ${LIFE_LOCKS}::oid and l.objid = lock_key::oid)`
