import { readdirSync, readFileSync } from 'node:fs'
import { Client } from 'pg'
import { migrateQueue } from '../queue/queue-migrations.ts'

const FOLDER = new URL('../migrations/', import.meta.url)
const LOCK = 7_310_412_019

export class MigrationError extends Error {
  override name = 'MigrationError'
}

type Migration = { version: number; name: string; sql: string }

function readMigrations(): Migration[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({
      version: Number.parseInt(file, 10),
      name: file,
      sql: readFileSync(new URL(file, FOLDER), 'utf8'),
    }))
}

/** Returns the schema version that this program migrates a database to. */
export function newestSchemaVersion(): number {
  return readMigrations().at(-1)?.version ?? 0
}

/**
 * Migrates the schema to the version of this program, or to the earlier version `upTo`. Many processes may call it at
 * once: one applies the migrations, the others wait.
 */
export async function migrate(
  url: string,
  log: (line: string) => void,
  upTo = Number.POSITIVE_INFINITY,
): Promise<void> {
  const client = new Client({
    connectionString: url,
    application_name: 'loam migrations',
    connectionTimeoutMillis: 10_000,
  })
  // A lost connection fails its statement. Without this listener, the event would end the process with a stack trace.
  client.on('error', () => undefined)
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK])
    await requireServerVersion(client)
    await client.query(
      'create table if not exists schema_migrations (version integer primary key, name text not null, applied_at timestamptz not null default now())',
    )
    const { rows } = await client.query<{ latest: number }>(
      'select coalesce(max(version), 0) as latest from schema_migrations',
    )
    const latest = rows[0]?.latest ?? 0
    const known = readMigrations().filter(({ version }) => version <= upTo)
    const newest = known.at(-1)?.version ?? 0
    if (latest > newest) {
      throw new MigrationError(
        `The database has schema version ${latest}, this program knows up to ${newest}. Start a newer Loam on it.`,
      )
    }
    for (const migration of known.filter((candidate) => candidate.version > latest)) {
      log(`applying migration ${migration.name}`)
      await apply(client, migration)
    }
    await migrateQueue(client, url, log)
  } finally {
    await client.end()
  }
}

async function requireServerVersion(client: Client): Promise<void> {
  const { rows } = await client.query<{ version: number }>(
    `select current_setting('server_version_num')::int as version`,
  )
  const version = rows[0]?.version ?? 0
  if (version < 150_000) {
    throw new MigrationError(
      `PostgreSQL 15 or later is needed; this server is ${Math.floor(version / 10_000)}.`,
    )
  }
}

async function apply(client: Client, migration: Migration): Promise<void> {
  try {
    await client.query('begin')
    // Otherwise row-level security would hide rows that the migration has to change.
    await client.query(`select set_config('loam.org', '*', true)`)
    await client.query(migration.sql)
    await client.query('insert into schema_migrations (version, name) values ($1, $2)', [
      migration.version,
      migration.name,
    ])
    await client.query('commit')
  } catch (cause) {
    await client.query('rollback')
    throw new MigrationError(`migration ${migration.name} failed and was rolled back: ${String(cause)}`, {
      cause,
    })
  }
}
