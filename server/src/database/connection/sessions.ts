import { randomUUID } from 'node:crypto'
import { Client } from 'pg'

const CLIENTS = 3
const TIMEOUT_MS = 5000

/** The error for a database behind something that does not keep sessions, such as a pooler in transaction mode. */
export class SessionError extends Error {
  override name = 'SessionError'
  /** Tells the operator what to change. */
  readonly fix: string

  constructor(fault: string, fix: string) {
    super(`DATABASE_URL: ${fault}. ${fix}`)
    this.fix = fix
  }
}

const TRANSACTION_MODE = [
  'settings of a session do not survive a transaction, as behind a pooler in transaction mode. Which organisation a connection speaks for is such a setting, so valid keys would be refused',
  'Connect to PostgreSQL directly, or set the pooler to session mode (pool_mode = session in PgBouncer)',
] as const
const NO_OPTIONS = [
  'the setting "options" of a new connection is ignored, as by a pooler that drops startup parameters. Limits of organisations are passed in it',
  'Connect to PostgreSQL directly, or let the pooler pass "options" on',
] as const

/**
 * Checks that each connection has a session of its own: its startup options and its settings must still hold in later
 * transactions, even while other connections are in one. Throws a SessionError that says what to do.
 */
export async function requireSessions(url: string): Promise<void> {
  const probes = Array.from({ length: CLIENTS }, () => openProbe(url))
  try {
    for (const { client } of probes) await client.connect()
    for (const probe of probes) await probe.set()
    for (const probe of probes) await probe.check()
    // A client in a transaction holds its connection to the server, so behind a pooler the others would get another
    // one.
    for (const { client } of probes) {
      await client.query('begin')
      await client.query('select 1')
      for (const probe of probes) await probe.check()
      await client.query('rollback')
    }
  } finally {
    await Promise.all(probes.map(({ client }) => client.end().catch(() => undefined)))
  }
}

function openProbe(url: string) {
  const token = randomUUID()
  const client = new Client({
    connectionString: url,
    application_name: 'loam inspection',
    connectionTimeoutMillis: TIMEOUT_MS,
    query_timeout: TIMEOUT_MS,
    options: `-c loam.opened=${token}`,
  })
  // A lost connection fails its statement. Without this listener, the event would end the process with a stack trace.
  client.on('error', () => undefined)
  return {
    client,
    set: () => client.query(`select set_config('loam.probe', $1, false)`, [token]),
    async check(): Promise<void> {
      const { rows } = await client.query<{ probe: string | null; opened: string | null }>(
        `select current_setting('loam.probe', true) as probe, current_setting('loam.opened', true) as opened`,
      )
      if (rows[0]?.probe !== token) throw new SessionError(...TRANSACTION_MODE)
      if (rows[0].opened !== token) throw new SessionError(...NO_OPTIONS)
    },
  }
}
