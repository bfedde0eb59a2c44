import { Client } from 'pg'

export type DatabaseReport = {
  version: string
  versionNumber: number
  encoding: string
  role: string
  /** Tells whether the role escapes row-level security. */
  bypassesRowSecurity: boolean
  /** The newest migration that was applied; 0 if none was. */
  schemaVersion: number
}

/** Reads the facts of a database without changing it. */
export async function inspectDatabase(url: string): Promise<DatabaseReport> {
  const client = new Client({
    connectionString: url,
    application_name: 'loam inspection',
    connectionTimeoutMillis: 5000,
    query_timeout: 5000,
  })
  try {
    await client.connect()
    const { rows } = await client.query<Omit<DatabaseReport, 'schemaVersion'> & { migrated: boolean }>(
      `select current_setting('server_version') as version,
        current_setting('server_version_num')::int as "versionNumber",
        current_setting('server_encoding') as encoding,
        current_user as role,
        rolsuper or rolbypassrls as "bypassesRowSecurity",
        to_regclass('schema_migrations') is not null as migrated
      from pg_roles where rolname = current_user`,
    )
    const [found] = rows
    if (found === undefined)
      throw new Error('the database has no entry in pg_roles for the role of this connection')
    const { migrated, ...report } = found
    return { ...report, schemaVersion: migrated ? await readSchemaVersion(client) : 0 }
  } finally {
    await client.end()
  }
}

async function readSchemaVersion(client: Client): Promise<number> {
  const { rows } = await client.query<{ latest: number }>(
    'select coalesce(max(version), 0) as latest from schema_migrations',
  )
  return rows[0]?.latest ?? 0
}
