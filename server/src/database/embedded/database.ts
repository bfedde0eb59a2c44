import { Client } from 'pg'

/** Returns a URL that spells out every part, so that `pg` takes none from the PG* variables. */
export function databaseUrl(socketDir: string, user: string, database: string): string {
  return `postgresql://${user}@localhost:5432/${database}?host=${encodeURIComponent(socketDir)}&sslmode=disable`
}

/**
 * Creates the role and the database `loam` in a new cluster. The role is no superuser, so row-level security binds it. The
 * database is created last: if it exists, everything else does.
 */
export async function createDatabase(socketDir: string): Promise<void> {
  await withSuperuser(socketDir, 'postgres', async (client) => {
    const { rowCount } = await client.query(`select from pg_database where datname = 'loam'`)
    if (rowCount) return
    const roles = await client.query(`select from pg_roles where rolname = 'loam'`)
    if (!roles.rowCount) await client.query('create role loam login createdb')
    await client.query('grant pg_signal_backend to loam')
    await withSuperuser(socketDir, 'template1', async (template) => {
      await template.query('create extension if not exists pg_trgm')
      await template.query('create extension if not exists btree_gin')
    })
    await client.query('create database loam owner loam template template1')
  })
}

async function withSuperuser(socketDir: string, database: string, use: (client: Client) => Promise<void>) {
  const client = new Client(databaseUrl(socketDir, 'postgres', database))
  await client.connect()
  try {
    await use(client)
  } finally {
    await client.end()
  }
}
