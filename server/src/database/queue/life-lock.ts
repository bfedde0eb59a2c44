import { randomInt } from 'node:crypto'
import { Client, type QueryResultRow } from 'pg'

/** The first of the two numbers of a life lock. The second is the process's own. */
const LIFE_LOCKS = 1_818_321_002
const CONNECT_MS = 5000
/** A connection that does not answer within this time is lost. */
const ANSWER_MS = 5000

/**
 * An advisory lock on a connection of its own. PostgreSQL releases it the moment the process ends, in whatever way. Another
 * process that finds it free need not wait until this one has been silent for long.
 */
export type LifeLock = {
  /** Takes the lock, or takes it again after the connection was lost. */
  hold(): Promise<HeldLifeLock>
  close(): Promise<void>
}

export type HeldLifeLock = {
  /** The second number of the lock. */
  key: number
  /**
   * Runs a statement on the lock's own connection. It never waits behind statements of rows, and its priority is higher than
   * theirs.
   */
  query<Row extends QueryResultRow>(text: string, values: unknown[]): Promise<Row[]>
}

export function createLifeLock(databaseUrl: string): LifeLock {
  const key = randomInt(1, 2 ** 31 - 1)
  let held: Client | undefined

  async function open(): Promise<Client> {
    const client = new Client({
      connectionString: databaseUrl,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: ANSWER_MS,
      keepAlive: true,
      application_name: 'loam life',
    })
    client.on('error', () => lose(client))
    client.on('end', () => lose(client))
    await client.connect()
    await ask(client, 'select pg_advisory_lock($1, $2)', [LIFE_LOCKS, key])
    return client
  }

  function lose(client: Client): void {
    if (held === client) held = undefined
  }

  async function ask<Row extends QueryResultRow>(client: Client, text: string, values: unknown[]) {
    try {
      return (await client.query<Row>(text, values)).rows
    } catch (cause) {
      lose(client)
      // The result is not awaited: the connection may not answer.
      client.end().catch(() => undefined)
      throw cause
    }
  }

  return {
    async hold() {
      const client = (held ??= await open())
      return { key, query: (text, values) => ask(client, text, values) }
    },
    async close() {
      const client = held
      held = undefined
      await client?.end()
    },
  }
}

/**
 * A condition for workers whose lock is free. After a restart of PostgreSQL, workers need a moment to take their locks again.
 */
export const HAS_FREE_LIFE_LOCK = `lock_key is not null
  and not exists (select from pg_locks l join pg_database d on d.oid = l.database
    where d.datname = current_database() and l.locktype = 'advisory' and l.granted
      and l.classid = ${LIFE_LOCKS}::oid and l.objid = lock_key::oid)`
